#!/bin/sh
# skillgit hook shim: passes on to a hook of the outer core.hooksPath; `skillgit hooks uninstall` removes it.
previous=@PREVIOUS@
[ -x "$previous" ] || exit 0
exec "$previous" "$@"
