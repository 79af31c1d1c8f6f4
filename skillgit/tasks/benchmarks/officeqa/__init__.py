"""OfficeQA: questions that are answered by looking into a collection of documents."""

from skillgit.tasks.benchmarks.officeqa.benchmark import OfficeQA

__all__ = ["OfficeQA"]
