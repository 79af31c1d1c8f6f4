"""SpreadsheetBench: a program that changes a workbook as asked, scored by the values of its cells."""

from __future__ import annotations

from skillgit.tasks.benchmarks.spreadsheet.bench import SpreadsheetBench

__all__ = ["SpreadsheetBench"]
