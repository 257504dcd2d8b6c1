import { formatWelcome, type Welcome } from '../../src/cli/welcome.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('the startup message')

const facts: Welcome = {
  baseUrl: 'http://127.0.0.1:4000',
  data: './data',
  token: 'sbx_admin_token',
  isTokenConfigured: false,
  demo: false,
  requireApiKey: false,
  isInUse: false,
  envConnections: [],
  externalUrl: undefined,
  hasDashboard: false,
  isWindows: false,
}

test('the startup message on Windows suggests a POSIX shell for the commands', () => {
  assert.match(formatWelcome({ ...facts, isWindows: true }), /in a POSIX shell, such as Git Bash/)
  assert.not.match(formatWelcome(facts), /POSIX/)
})

test('the startup message without a provider explains the model list and how to connect Ollama', () => {
  const text = formatWelcome(facts)
  assert.match(text, 'No provider is connected yet. Until then, /v1/models lists the built-in catalog.')
  assert.match(text, 'send {"provider":"ollama","discover":true} to connect Ollama with its installed models.')
  assert.match(text, /see https:\/\/\S+\/start\/local-models\.md$/m)
  assert.not.match(formatWelcome({ ...facts, isInUse: true }), /built-in catalog|ollama/)
})

test('the startup message contains the dashboard URL, with the token if it is shown', () => {
  const server = { ...facts, hasDashboard: true }
  assert.match(formatWelcome(server), '\n  http://127.0.0.1:4000/admin/#token=sbx_admin_token\n')
  assert.match(formatWelcome({ ...server, token: undefined }), '\n  http://127.0.0.1:4000/admin/\n')
  assert.not.match(formatWelcome(facts), /dashboard|\/admin\//)
})
