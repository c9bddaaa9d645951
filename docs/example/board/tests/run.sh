# The tests of this folder, with pytest and the SDK that lie in `sdk/` of the sources. Without these, JUnit has one test
# that was skipped, and the reason.
if python3 -c 'import pytest, embeddedci' 2> /dev/null; then
  exec python3 -m pytest -q -p no:cacheprovider --junitxml=tests.xml tests/
fi
why="pytest and the SDK are not in sdk/ of the sources: pip install --target sdk 'embeddedci[cloud]' pytest"
echo "NOTE: the tests with the SDK are skipped: $why"
printf '<testsuite name="tests"><testcase name="with the SDK" classname="tests"><skipped message="%s"/></testcase></testsuite>\n' \
  "$why" > tests.xml
