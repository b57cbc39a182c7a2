"""docs/derivatives.md does what it says."""

import re
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "derivatives.md"


def test_the_page_runs():
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert len(blocks) == 3
    exec(compile("\n".join(blocks), str(PAGE), "exec"), {})
