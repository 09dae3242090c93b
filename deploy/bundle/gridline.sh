#!/bin/sh
# Starts Gridline with the Node of its folder.
self=$(readlink -f "$0")
folder=${self%/*}/../lib
exec "$folder/node" "$folder/bin/gridline.js" "$@"
