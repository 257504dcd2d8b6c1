import { readFile } from 'node:fs/promises'
import { parseOptions, readEnvironment, requireNode } from '../../src/cli/cli-options.ts'
import { describeError } from '../../src/cli/logger.ts'
import { isProblem } from '../../src/cli/problem.ts'
import { isLoopback } from '../../src/cli/start.ts'
import { assert, suite } from '../support/suite.ts'
import { cleanUp, signalbox, temporaryFolder } from './command.ts'

const options = suite('the CLI options')

for (const version of ['16.20.2', '18.20.8', '20.20.2', '22.12.0']) {
  options(`signalbox rejects Node ${version} as too old`, () =>
    throwsProblem(() => requireNode(version), {
      exitCode: 1,
      message: /^Node\.js [\d.]+ is too old\. Install 22\.13\.0 or later: https:\/\/nodejs\.org$/,
    }),
  )
}

options(
  'signalbox accepts the oldest Node version allowed by "engines" in package.json, and several newer versions',
  async () => {
    const { engines }: { engines: { node: string } } = JSON.parse(
      await readFile(new URL('../../package.json', import.meta.url), 'utf8'),
    )
    for (const version of [engines.node.replace('>=', ''), '22.22.0', '23.0.0', '24.21.0']) requireNode(version)
  },
)

options('the CLI options default to loopback, port 4000, and ./data', () => {
  assert.equal(parseOptions([]), {
    port: 4000,
    host: '127.0.0.1',
    allowedHosts: [],
    allowedOrigins: [],
    data: './data',
    demo: false,
    newToken: false,
    log: false,
    dashboard: false,
    metrics: false,
    config: undefined,
    open: false,
    env: true,
    help: false,
    version: false,
  })
})

options('CLI options accept their value after a space or an equals sign', () => {
  const read = parseOptions(['--port=0', '--host', '[::1]', '--data=-odd', '--demo', '--log', '--new-token'])
  assert.equal(
    { ...read },
    { ...parseOptions([]), port: 0, host: '::1', data: '-odd', demo: true, log: 'text', newToken: true },
  )
})

options('parses --config, --open, and --no-env, which may be repeated with the same value', () => {
  const { config, open, env } = parseOptions(['--config', 'b.yaml', '--config=b.yaml', '--open', '--open', '--no-env'])
  assert.equal({ config, open, env }, { config: 'b.yaml', open: true, env: false })
})

options('--log logs text by default, and JSON with the value json', () => {
  assert.is(parseOptions(['--log', '--demo']).log, 'text')
  for (const args of [['--log', 'json'], ['--log=json'], ['--log', 'json', '--log=json', '--demo']])
    assert.is(parseOptions(args).log, 'json', args.join(' '))
})

options('--allowed-host can be repeated or contain commas, and hostnames are normalized', () => {
  const args = ['--allowed-host', 'Gateway.Example', '--allowed-host=a.test., b.test,münchen.example', '--port', '1']
  assert.equal(parseOptions(args).allowedHosts, ['gateway.example', 'a.test', 'b.test', 'xn--mnchen-3ya.example'])
})

options('--allowed-origin can be repeated or contain commas', () => {
  const args = ['--allowed-origin', 'https://app.example', '--allowed-origin=http://localhost:5173, https://b.test']
  assert.equal(parseOptions(args).allowedOrigins, ['https://app.example', 'http://localhost:5173', 'https://b.test'])
})

const rejected: Array<[args: string[], says: RegExp]> = [
  [['--prt', '1'], /Unknown option "--prt"\. Did you mean "--port"\?/],
  [['--zzzzzz'], /Unknown option "--zzzzzz"\. Use --help to list all options\./],
  [['-p', '1'], /Unknown option "-p"/],
  [['--constructor'], /Unknown option "--constructor"/],
  [['data'], /Unexpected argument "data"/],
  [['--demo', '--', 'x'], /Unexpected argument "x"/],
  [['--port=1', '--port', '0'], /--port is set twice, to different values\. Set it once\./],
  [['--data', 'a', '--demo', '--data=b'], /--data is set twice, to different values/],
  [['--config', 'a.json', '--config=b.yaml'], /--config is set twice, to different values/],
  [['--log', '--log', 'json'], /--log is set twice, to different values/],
  [['--demo=yes'], /--demo doesn't take a value/],
  [['--demo', 'json'], /Unexpected argument "json"/],
  [['--log=xml'], /--log only accepts the value json/],
  [['--log', 'xml'], /--log only accepts the value json/],
  [['--log', 'json', 'json'], /Unexpected argument "json"/],
  [['--port'], /--port needs a value, for example: --port 4000$/],
  [['--data', '--demo'], /--data needs a value/],
  [['--data='], /--data needs a value/],
  [['--port', '65536'], /"65536" is not a valid port/],
  [['--port', '4e3'], /"4e3" is not a valid port/],
  [['--port=-1'], /"-1" is not a valid port/],
  [['--host', 'http://0.0.0.0'], /is not a valid host\. .* set the port with --port/],
  [['--host', '0.0.0.0:80'], /is not a valid host/],
  [['--allowed-host'], /--allowed-host needs a value, for example: --allowed-host gateway\.example$/],
  [['--allowed-host', 'a.test,'], /--allowed-host "" is not a valid hostname/],
  [['--allowed-host', 'https://a.test'], /"https:\/\/a\.test" is not a valid hostname\. Leave out the scheme and port/],
  [['--allowed-host', 'a.test:443'], /is not a valid hostname/],
  [['--allowed-host', '*.test'], /is not a valid hostname/],
  [['--allowed-origin'], /--allowed-origin needs a value, for example: --allowed-origin https:\/\/app\.example$/],
  [['--allowed-origin', 'app.example'], /"app\.example" is not a valid origin\. Use scheme, host, and port/],
  [['--allowed-origin', '*'], /is not a valid origin/],
]

for (const [args, message] of rejected) {
  options(`signalbox rejects the arguments ${args.join(' ')}`, () =>
    throwsProblem(() => parseOptions(args), { exitCode: 2, message }),
  )
}

options('--help lists all options and starts nothing', async () => {
  const help = signalbox(['--help', '--data', '/dev/null/x'])
  const version = signalbox(['-v'])
  assert.equal(await help.ended, { code: 0, signal: null })
  for (const name of [
    'port',
    'host',
    'allowed-host',
    'allowed-origin',
    'data',
    'demo',
    'new-token',
    'log',
    'dashboard',
    'metrics',
    'config',
    'open',
    'no-env',
    'help',
    'version',
  ]) {
    assert.match(help.stdout, new RegExp(`^ {2}(?:-., )?--${name}\\b`, 'm'))
  }
  assert.match(help.stdout, /4000[\s\S]*127\.0\.0\.1[\s\S]*\.\/data[\s\S]*SIGNALBOX_ADMIN_TOKEN[\s\S]*SIGNALBOX_SECRET/)
  await version.ended
  assert.match(version.stdout, /^\d+\.\d+\.\d+\S*\n$/)
})

const environment = suite('the CLI environment')

const token = 'c'.repeat(40)
const unusable: Array<[env: Record<string, string>, newToken: boolean, says: RegExp]> = [
  [{ SIGNALBOX_ADMIN_TOKEN: '' }, false, /SIGNALBOX_ADMIN_TOKEN is empty/],
  [
    { SIGNALBOX_ADMIN_TOKEN: 'c'.repeat(31) },
    false,
    /SIGNALBOX_ADMIN_TOKEN is too short \(31 characters\)\. Use at least 32/,
  ],
  [{ SIGNALBOX_ADMIN_TOKEN: `a b${token}` }, false, /SIGNALBOX_ADMIN_TOKEN contains spaces/],
  [{ SIGNALBOX_ADMIN_TOKEN: token }, true, /--new-token has no effect/],
  [{ SIGNALBOX_SECRET: '' }, false, /SIGNALBOX_SECRET is empty/],
  [{ SIGNALBOX_SECRET: ' ' }, false, /SIGNALBOX_SECRET is empty/],
  [{ SIGNALBOX_SECRET: 's'.repeat(31) }, false, /SIGNALBOX_SECRET is too short \(31 characters\)\. Use at least 32/],
]

for (const [env, newToken, message] of unusable) {
  environment(
    `signalbox rejects the environment variables ${JSON.stringify(env)}${newToken ? ' with --new-token' : ''}`,
    () => throwsProblem(() => readEnvironment(env, { newToken }), { exitCode: 1, message }),
  )
}

environment('the CLI accepts an environment with both the token and the secret, or neither', () => {
  assert.equal(readEnvironment({}, { newToken: true }), { adminToken: undefined, secret: undefined })
  const env = { SIGNALBOX_ADMIN_TOKEN: token, SIGNALBOX_SECRET: 's'.repeat(32) }
  assert.equal(readEnvironment(env, { newToken: false }), { adminToken: token, secret: 's'.repeat(32) })
})

function throwsProblem(run: () => unknown, { exitCode, message }: { exitCode: number; message: RegExp }): void {
  let reason: unknown
  try {
    run()
  } catch (error) {
    reason = error
  }
  assert.ok(isProblem(reason), 'the input was accepted')
  assert.is(reason.exitCode, exitCode)
  assert.match(reason.message, message)
}

const addresses = suite('the address that the CLI listens on')

addresses('only loopback addresses count as local', () => {
  for (const host of ['127.0.0.1', '127.8.8.8', '::1', 'localhost']) assert.ok(isLoopback(host), host)
  for (const host of ['0.0.0.0', '::', '10.0.0.1', '127.evil.example', '::ffff:10.0.0.1'])
    assert.not.ok(isLoopback(host), host)
})

const lines = suite('the CLI message for an unexpected error')

lines('an unexpected error is printed on one line, without credentials', () => {
  const error = new TypeError(
    'first\nsecond \u001b[31mred Bearer abc sk-proj-12345678 id 0b1f7a5e-2f0c-4a53-9d0b-5b9f2f1d8a11',
  )
  assert.is(
    describeError(Object.assign(error, { code: 'E_X' })),
    'TypeError E_X: first second [31mred … … id 0b1f7a5e-2f0c-4a53-9d0b-5b9f2f1d8a11',
  )
  assert.is(describeError(`key ${'a1'.repeat(16)}`), 'key …')
})

options('signalbox start accepts the same options as signalbox', async () => {
  const help = signalbox(['start', '--help'])
  assert.is((await help.ended).code, 0)
  assert.match(help.stdout, /^ {2}--port <number>/m)
  const wrong = signalbox(['start', 'now'])
  assert.is((await wrong.ended).code, 2)
  assert.match(wrong.stderr, 'Unexpected argument "now"')
  const folder = await temporaryFolder()
  const running = signalbox(['start', '--port', '0', '--data', folder])
  assert.match(await running.baseUrl(), /^http:/)
  assert.is((await running.stop()).code, 0)
  await cleanUp()
})
