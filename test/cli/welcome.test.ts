import { formatWelcome, type Welcome } from '../../src/cli/welcome.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('what is printed when the gateway is up')

const facts: Welcome = {
  baseUrl: 'http://127.0.0.1:4000',
  data: './data',
  token: 'sbx_admin_token',
  isTokenGiven: false,
  demo: false,
  requireApiKey: false,
  isInUse: false,
  envConnections: [],
  openTo: undefined,
  hasDashboard: false,
  isWindows: false,
}

test('the start-up text names the shell for its commands where the usual one cannot run them', () => {
  assert.match(formatWelcome({ ...facts, isWindows: true }), /in a POSIX shell, such as Git Bash/)
  assert.not.match(formatWelcome(facts), /POSIX/)
})

test('what is printed when the gateway is up says what is listed while nothing is connected, and how a server of one’s own is', () => {
  const text = formatWelcome(facts)
  assert.match(text, 'No provider is connected yet. Until then, /v1/models lists the built-in catalog.')
  assert.match(text, 'send {"provider":"ollama","discover":true} to connect Ollama with its installed models.')
  assert.match(text, 'see examples/local/README.md.')
  assert.not.match(formatWelcome({ ...facts, isInUse: true }), /built-in catalog|ollama/)
})

test('what is printed when the gateway is up has the address of the dashboard, with the token where it is shown', () => {
  const served = { ...facts, hasDashboard: true }
  assert.match(formatWelcome(served), '\n  http://127.0.0.1:4000/admin/#token=sbx_admin_token\n')
  assert.match(formatWelcome({ ...served, token: undefined }), '\n  http://127.0.0.1:4000/admin/\n')
  assert.not.match(formatWelcome(facts), /dashboard|\/admin\//)
})
