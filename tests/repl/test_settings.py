"""Settings from the file, the command line and the environment; what is wrong is one warning each."""

import pytest

from gradrepl.cli import parse
from gradrepl.repl.settings import Settings, config_folder, load_settings


@pytest.fixture
def configured(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.delenv("GRADREPL_IMAGES", raising=False)

    def write(text, *words):
        (tmp_path / "gradrepl").mkdir(exist_ok=True)
        (tmp_path / "gradrepl" / "config.toml").write_text(text)
        return load_settings(parse(list(words)))

    return write


def test_the_file_and_what_overrides_it(configured, monkeypatch):
    settings = configured('theme = "light"\nkeys = "vi"\nhistory = 5\n', "--theme", "dark")
    assert (settings.theme, settings.keys, settings.history, settings.info, settings.warnings) == ("dark", "vi", 5, False, [])
    monkeypatch.setenv("GRADREPL_IMAGES", "kitty")
    assert configured('images = "none"').images == "kitty"
    assert configured('theme = "light"', "--no-config").theme == "auto"


@pytest.mark.parametrize(
    "text, warning",
    [
        ('them = "dark"', "no setting 'them'; did you mean 'theme'?"), ('theme = "pink"', "may be auto, dark, light, none"),
        ("info = 1", "may be true or false"), ("history = true", "may be a whole number"), ("theme = [", "going on without it"),
    ],
)  # fmt: skip
def test_a_mistake_is_one_warning(configured, text, warning):
    settings = configured(text)
    assert len(settings.warnings) == 1 and warning in settings.warnings[0]
    assert vars(settings) | {"warnings": []} == vars(Settings())


def test_folders(monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", "relative")
    monkeypatch.setenv("HOME", "/home/me")
    assert config_folder() == "/home/me/.config/gradrepl"
