"""Tests that build on others: a suite of such tests is a pass, of which each block measures all, in its order."""

from dbversus.errors import UsageError
from dbversus.names import did_you_mean
from dbversus.suites.model import Suite


def check_order(suite: Suite) -> None:
    """Raises UsageError with file and line where a test builds on one that is not there, or does not come before it."""
    earlier: list[str] = []
    for test in suite.tests.values():
        for index, name in enumerate(test.builds_on):
            if name not in earlier:
                known = ", ".join(earlier) or "(none)"
                raise test.place.at("builds_on", index).mistake(
                    f"'{test.name}' builds on '{name}', which is no test before it.{did_you_mean(name, earlier)} "
                    f"Accepted: {known}."
                )
        earlier.append(test.name)


def needed(suite: Suite, name: str) -> list[str]:
    """Tests that a test builds on, and that these build on, in the order of the suite."""
    found: set[str] = set()
    left = list(suite.tests[name].builds_on)
    while left:
        found.add(one := left.pop())
        left += [each for each in suite.tests[one].builds_on if each not in found]
    return [each for each in suite.tests if each in found]


def check_selected(suite: Suite, selected: Suite) -> None:
    """Raises UsageError when `selected`, made of tests of `suite`, lacks one that another builds on."""
    for name in selected.tests:
        missing = [each for each in needed(suite, name) if each not in selected.tests]
        if missing:
            tests = [each for each in suite.tests if each in {*needed(suite, name), *selected.tests}]
            raise UsageError(
                f"test {name} builds on {', '.join(missing)}, which {'is' if len(missing) == 1 else 'are'} not among the tests "
                f"asked for: --tests {','.join(tests)}"
            )
