import { type Welcome, welcomeText } from '../../src/cli/welcome.ts'
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
  isWindows: false,
}

test('the start-up text names the shell for its commands where the usual one cannot run them', () => {
  assert.match(welcomeText({ ...facts, isWindows: true }), /for a POSIX shell, such as Git Bash/)
  assert.not.match(welcomeText(facts), /POSIX/)
})
