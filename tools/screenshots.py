"""Make docs/images: the explain pages of the doors, as a reader sees them.

    python tools/screenshots.py

It needs Chromium, and runs the doors for their pages.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PICTURES = {  # file -> door, its options, the step that is shown
    "tape.png": ("tape", [], 7),
    "network.png": ("network", ["--quiet", "--epochs", "1"], 24),
}


def main() -> None:
    for name, (door, options, step) in PICTURES.items():
        with tempfile.TemporaryDirectory() as folder:
            page = Path(folder) / "page.html"
            command = [
                sys.executable,
                "-m",
                f"examples.doors.{door}",
                *options,
                "--page",
                str(page),
            ]
            subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
            subprocess.run(
                [
                    *(
                        "chromium",
                        "--headless",
                        "--no-sandbox",
                        "--disable-gpu",
                        "--hide-scrollbars",
                    ),
                    f"--screenshot={ROOT / 'docs' / 'images' / name}",
                    "--window-size=1280,800",
                    f"{page.as_uri()}#{step}",
                ],
                check=True,
                stderr=subprocess.DEVNULL,
            )


if __name__ == "__main__":
    main()
