#!/bin/sh
# A committer's question: did my patch make PostgreSQL slower? Two builds, some three minutes.
#   ./committer.sh /opt/pg-before /opt/pg-after [FOLDER]
set -eu
test $# -ge 2 || { echo "usage: $0 BEFORE AFTER [FOLDER]: two builds, such as /opt/pg-before /opt/pg-after" >&2; exit 2; }
folder=${3:-patch-123}
${DBVERSUS:-dbversus} compare "before=$1" "after=$2" --label patch-123 --profile quick --table-size "${ROWS:-50k}" \
    --tests "${TESTS:-point-query,range-notcovered-pk,random-points-100,update-index,insert}" \
    --time-budget "${BUDGET:-150s}" --out "$folder" --quiet
# the comment for the pull request
${DBVERSUS:-dbversus} report "$folder" --format pr >/dev/null
cat "$folder/pr.md"
