#!/bin/sh
# A blogger's question: how did PostgreSQL change over its versions? A page, and charts to publish, in some fifteen minutes.
#   ./blogger.sh [FOLDER] [TARGETS …]
set -eu
folder=${1:-versions}
test $# -eq 0 || shift
test $# -gt 0 || set -- postgres:13 postgres:15 postgres:17
${DBVERSUS:-dbversus} compare "$@" --profile quick --table-size "${ROWS:-100k}" \
    --tests "${TESTS:-point-query,range-notcovered-pk,read-only-100,scan,update-index,insert}" \
    --time-budget "${BUDGET:-12m}" --out "$folder" --quiet
${DBVERSUS:-dbversus} report "$folder" --format html,charts,post >/dev/null
echo "page: $folder/report.html, charts: $folder/charts, post: $folder/post.md"
