"""No secret survives redaction, whatever stands around it and wherever it is cut; prose and code do."""

from __future__ import annotations

import json
import string

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skillgit.sleep.redact import redact, redact_value
from tests.skills.test_secrets import IN_CONTEXT, TOKENS, made

DIGITS, HEX, UPPER = string.digits, "0123456789abcdef", string.ascii_uppercase + "234567"

SHAPES = TOKENS | {
    "AWS temporary key": f"ASIA{made(16, UPPER)}",
    "GitHub fine-grained token": f"github_pat_{made(22)}_{made(59)}",
    "GitLab deploy token": f"gldt-{made(20)}",
    "short OpenAI key": f"sk-{made(20)}",
    "Slack user token": f"xoxp-{made(11, DIGITS)}-{made(11, DIGITS)}-{made(32)}",
    "Slack configuration token": f"xoxe.xoxp-1-{made(120)}",
    "Stripe test key": f"rk_test_{made(24)}",
    "token with few letters": "ghp_" + "a1b2" * 9,
    "token that looks made up": f"sk-ant-api03-example{made(30)}",
    "encrypted web token": f"eyJ{made(30)}..{made(16)}.{made(40)}.{made(22)}",
    "cut web token": f"eyJ{made(30)}.eyJ{made(9)}",
    "password hash": f"$2b$12${made(53)}",
    "long key": f"sk-proj-{made(900)}",
}
"""Secrets whose own shape gives them away."""

WEAK = "hunter2"
NAMED = [
    "password={}",
    "password: {}",
    "Password : {}",
    "PASSWORD={}",
    "DB_PASSWORD={}",
    "export PGPASSWORD={}",
    "spring.datasource.password={}",
    "db_pass: {}",
    "passwd={};",
    "pwd={}",
    "passphrase: {}",
    "signing_key={}",
    "client_secret={}",
    "api_key: {}",
    "apiKey={}",
    "X-Api-Key: {}",
    "aws_secret_access_key = {}",
    "AccountKey={};EndpointSuffix=core",
    "refresh_token={}",
    '{{"password": "{}"}}',
    '{{"password":"{}"',
    '"{{\\"password\\": \\"{}\\"}}"',
    "{{'secret': '{}'}}",
    "password = '{}'",
    'password = """{}"""',
    'password: str = "{}"',
    'const apiToken = "{}";',
    'config["password"] = "{}"',
    "connect(host, password='{}', port=5432)",
    'if password == "{}":',
    ":password => '{}'",
    "**Password:** {}",
    "- Password: `{}`",
    "| password | {} |",
    "<password>{}</password>",
    "<db:password>{}</db:password>",
    "- name: DB_PASSWORD\n  value: {}",
    '{{"name": "DB_PASSWORD", "value": "{}"}}',
    "--password {}",
    "--password={}",
    "--token {}",
    "curl -u bob:{} https://example.com",
    "mysql -u root -p{} shop",
    "sshpass -p {} ssh bob@host",
    "docker login -u bob -p {} registry",
    "Authorization: Bearer {}",
    "authorization: token {}",
    '"Authorization": "Basic {}"',
    "curl -H 'Authorization: Bearer {}' https://x",
    "Bearer {}",
    "Cookie: sid={}",
    "Set-Cookie: theme=dark; id={}; Path=/",
    "https://bob:{}@example.com/x.git",
    "postgres://app:{}@db/main",
    "redis://:{}@cache:6379",
    "https://x.blob.core.windows.net/c?sv=1&sig={}",
    "https://example.com/cb?access_token={}",
    "https://example.com/cb?state=1&amp;token={}",
    "Server=db;User=sa;Password={}",
    "Driver=x;UID=sa;PWD={};Database=m",
    "Driver=x;UID=sa;PWD={{{};more}}}};x}};Database=m",
    "https://hooks.slack.com/services/{}",
    "https://discord.com/api/webhooks/123/{}",
    "https://api.telegram.org/bot{}/send",
    "machine example.com login bob password {}",
    "//registry/:_authToken={}",
    "my password is {}",
    "My password is: {}.",
    "the root password for the database is {}, do not share it",
    "use password {} to log in",
    "reset the password to {} please",
    "the api key is {}",
    "mein Passwort ist {}",
    "mon mot de passe est {}",
    "mi contraseña es {}",
    "我的密码是{}",
    "パスワードは{}",
    "мой пароль {}",
    "ssh root@host, pass: {} ok",
    '{{"auth": {{"user": "bob", "pass": "{}"}}}}',
    "the wifi password's {}",
    "api key -> {}",
    "password = 'it''s {}'",
    "echo {} | docker login --password-stdin",
    'Authorization: Digest username="bob", response="{}"',
    "kubectl create secret generic x --from-literal=password={}",
    "Data Source=x;Password=my {} pass;Encrypt=1",
    "ENV DB_PASS {}",
    '<add key="Password" value="{}"/>',
    "$env:PASSWORD = '{}'",
    "here is my token: {}",
    "my password:\n{}",
    "password is **{}**",
    "CREATE USER bob IDENTIFIED BY '{}'",
    "requirepass {}",
    '{{"password":"{}","x":1}}',
    "password = {} # for now",
    'if (pwd === "{}")',
]
"""Where even a weak value is a secret."""


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize(
    "around", ["{}", "key: {}", "`{}`", '"{}",', "x\\n{}\\n", "_{}_", "X={}\n", "a%3D{}", "({})", "https://h/{}?a"]
)
def test_a_token_of_known_shape_goes_wherever_it_stands(name: str, around: str) -> None:
    assert_gone(SHAPES[name], around.format(SHAPES[name]))


@pytest.mark.parametrize("name", IN_CONTEXT)
def test_what_a_linter_finds_by_its_surroundings_goes_too(name: str) -> None:
    around, secret = IN_CONTEXT[name]
    assert_gone(secret, around.format(secret))


@pytest.mark.parametrize("value", [WEAK, "Tr0ub4dor&3", "p@ss-w0rd!"])
@pytest.mark.parametrize("around", NAMED)
def test_a_weak_value_goes_where_its_name_says_what_it_is(around: str, value: str) -> None:
    text = around.format(value)
    hidden = redact(text)
    assert value not in hidden
    assert "[redacted:" in hidden
    assert redact(hidden) == hidden


@pytest.mark.parametrize("value", ["letmein", "swordfish"])
@pytest.mark.parametrize(
    "around", ["password={}", "password: {}", '"password": "{}"', "my password is {}", "PASSWORD: {}", "SECRET={}"]
)
def test_a_password_that_is_a_word_goes_too(around: str, value: str) -> None:
    assert value not in redact(around.format(value))


def test_a_passphrase_goes_to_the_end_of_its_line() -> None:
    hidden = redact("passphrase: correct horse battery staple\nnext line")
    assert hidden == "passphrase: [redacted:password]\nnext line"
    assert "staple" not in redact("my seed phrase is abandon ability able about staple")


@pytest.mark.parametrize(
    "text",
    [
        "the token is expired",
        "The password is wrong, and the password must be at least 8 characters.",
        "password: must be long",
        "password:\n  type: string\ntoken:\n- one\n",
        "Where is the password stored? Passwords are hashed with bcrypt12.",
        "add a password field, a token bucket and a secret manager",
        "the secret is to keep functions short",
        "max_tokens=4096, tokens: 128000, token_count = 5",
        "token = response.token",
        "token: string; password: str | None = None",
        "def login(user: str, password: str) -> Token:",
        "password = getpass.getpass('Password: ')",
        "password = os.environ['DB_PASSWORD']",
        'const token = await fetchToken(); headers["x-api-key"] = config.apiKey',
        "password=${DB_PASSWORD} token=$TOKEN key: ${{ secrets.TOKEN }} <your-token>",
        "self.password = password; login(password=password, token=self.token)",
        "token: true, secret: null, password: None",
        "PWD=/home/x\nOLDPWD=/tmp",
        "sk-learn-contrib-and-other-words is a package, like sk-learn2-extensions-of-mine",
        "commit 3f786850e387550fdab836ed7e6dc881de23001b",
        "id 123e4567-e89b-12d3-a456-426614174000",
        "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "http://localhost:8080/path@v2 and ssh://git@host:22/x and git@github.com:org/repo.git",
        "https://example.com/?page=2&code=404&key=name",
        "Basic authentication and bearer tokens; Bearer authentication is used",
        "cookie: a small text file",
        "the primary_key: id, foreign keys, keyboard: qwerty, monkey=banana",
        "hf_hub_download and npm_config_registry",
        "5 passed, 1 failed; bypass: yes; compass=north",
        '{"sessionId": "c0ffee", "type": "user"}',
        "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGA",
        "grep for `-----BEGIN RSA PRIVATE KEY-----` in the log",
        "In tests/test_token.py the token is parsed: see parse_token(text) -> Token",
        "class PasswordField(Field): pass",
        "the secret: keep it simple",
        "password_hash = hash(password)",
        'if (!password) { throw new Error("password required"); }',
        "key = key.strip(); token = token.lower()",
        "tokens = tokenizer.encode(text); token_ids=[1,2]",
        "const secret = process.env.SECRET;",
        'auth_token = request.headers.get("X-Auth-Token")',
        "- `token`: the access token to use (string)",
        "| token | string | yes | the access token |",
        "| password | The password of the user |",
        "The API key is read from the environment variable API_KEY.",
        "Use token bucket rate limiting: 100 requests",
        "password: { type: String, required: true }",
        "token: Annotated[str, Depends(oauth2_scheme)]",
        'secret: str = Field(..., description="x")',
        "getToken(): Promise<string>",
        "private token: string;",
        "the password to the server is stored in vault",
        "set the token to null",
        "Bearer token authentication with JWTs",
        "git log --format=%H token..main",
        "public_key = load_key(path)",
        "primary key: user_id",
        "ssh-keygen -t ed25519 -f key",
        "cookie = parse_cookie(header)",
        'document.cookie = name + "=" + value',
        'response.set_cookie("session", value)',
        "http://localhost:3000/?token=${token}",
        'password = input("Password: ")',
        "mysql -u root -p",
        "errors = {'password': 'Password is required', 'token': 'Enter your token'}",
        "",
    ],
)
def test_prose_and_code_stay_as_they_are(text: str) -> None:
    assert redact(text) == text


@pytest.mark.parametrize("footer", ["", "-----END OPENSSH PRIVATE KEY-----"])
@pytest.mark.parametrize("start", ["", "  ", "> ", "+", "| ", "# "])
@pytest.mark.parametrize("newline", ["\n", "\r\n", "\\n"])
@pytest.mark.parametrize("size", [12, 64])
def test_a_private_key_goes_whole_also_cut_off_and_quoted(footer: str, start: str, newline: str, size: int) -> None:
    lines = ["-----BEGIN OPENSSH PRIVATE KEY-----", made(64), made(64, seed=5), made(size, seed=4), footer]
    hidden = redact(f"before\n{newline.join(start + line for line in lines if line)}\n\nafter it")
    assert not any(line in hidden for line in lines[1:4])
    assert hidden.startswith("before")
    assert hidden.endswith("after it")


def test_a_private_key_of_which_only_the_first_characters_are_left_goes() -> None:
    assert redact(f"-----BEGIN PRIVATE KEY-----\n{made(10)}") == "[redacted:private key]"


@pytest.mark.parametrize("hidden", ["\u200b", "\u202e", "\x00", "\u00ad", "\u200d", "\x1b[31m", "\U000e0041"])
def test_invisible_characters_hide_no_secret(hidden: str) -> None:
    token = f"ghp_{made(36)}"
    assert redact(f"{token[:9]}{hidden}{token[9:]}") == "[redacted:GitHub token]"


def test_emails_and_homes_go_only_when_asked() -> None:
    text = (
        "mail ann.lee+x@mail.example.co.uk about /home/ann/x, C:\\Users\\ann\\shop, /Users/ann and git@github.com:a/b"
    )
    assert redact(text) == text
    assert redact(text, email=True).startswith("mail [redacted:e-mail] about /home/ann/x")
    both = redact(text, email=True, home=True)
    assert "ann" not in both
    assert both.endswith("and git@github.com:a/b")
    assert redact(both, email=True, home=True) == both
    assert (
        redact("~/.claude/projects/-home-ann-shop/x.jsonl", home=True)
        == "~/.claude/projects/[redacted:home]-shop/x.jsonl"
    )


def test_the_own_home_goes_wherever_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/data/people/ann")
    assert (
        redact("in /data/people/ann/shop and /data/people/anna", home=True)
        == "in [redacted:home]/shop and /data/people/anna"
    )


def test_values_lose_what_their_keys_call_secret() -> None:
    value = {
        "password": "x",
        "apiKey": ["a", {"b": 1}],
        "Set-Cookie": "a=b",
        "PWD": "/home/x",
        "token": None,
        "hasPassword": True,
        "secret": "",
        "pin": 7,
        "text": ["my password is hunter2", (1, 2.5)],
        f"ghp_{made(36)}": "key",
    }
    hidden = redact_value(value)
    assert hidden == {
        "password": "[redacted:password]",
        "apiKey": "[redacted:secret]",
        "Set-Cookie": "[redacted:cookie]",
        "PWD": "/home/x",
        "token": None,
        "hasPassword": True,
        "secret": "",
        "pin": 7,
        "text": ["my password is [redacted:password]", [1, 2.5]],
        "[redacted:GitHub token]": "key",
    }
    assert redact_value(hidden) == hidden
    assert json.loads(json.dumps(hidden)) == hidden


def test_a_value_nested_without_end_costs_no_more_than_its_depth() -> None:
    value: object = "password=hunter2"
    for _ in range(5000):
        value = [value]
    assert "hunter2" not in str(redact_value(value))


_NEAR = st.text(st.characters(codec="utf-8", exclude_categories=["L", "N", "M", "Cc"]), max_size=40)


@given(st.text(max_size=200), _NEAR, st.sampled_from(sorted(SHAPES.values())), _NEAR, st.text(max_size=200))
def test_no_planted_token_survives(before: str, left: str, token: str, right: str, after: str) -> None:
    assert_gone(token, f"{before} {left}{token}{right} {after}")


@given(st.text(max_size=200), st.sampled_from(NAMED), st.text(max_size=200))
def test_no_planted_weak_value_survives(before: str, around: str, after: str) -> None:
    assert WEAK not in redact(f"{before}\n{around.format(WEAK)}\n{after}".replace("\uffff", ""))


_GRIT = st.lists(
    st.sampled_from(
        [
            *NAMED,
            *SHAPES.values(),
            "password",
            "=",
            ": ",
            '"',
            "'",
            "\\",
            "\n",
            " is ",
            "[redacted:password]",
            "://",
            "@",
            "{}",
            "&",
            ";",
        ]
    ),
    max_size=12,
)


@settings(max_examples=300)
@given(_GRIT, st.booleans())
def test_redacting_twice_changes_nothing_more(parts: list[str], personal: bool) -> None:
    once = redact("".join(parts), email=personal, home=personal)
    assert redact(once, email=personal, home=personal) == once


def assert_gone(secret: str, text: str) -> None:
    hidden = redact(text)
    assert secret not in hidden
    assert secret[12:] not in hidden
    assert redact(hidden) == hidden


@pytest.mark.parametrize(
    "text",
    [
        "_ann@shop.example_",
        "?to=ann%40shop.example&x=1",
        "ann@shop.example-Bob",
        "ann\\u0040shop.example",
        "ann@shop.xn--p1ai",
    ],
)
def test_an_email_goes_however_it_is_written(text: str) -> None:
    assert "ann" not in redact(text, email=True)
