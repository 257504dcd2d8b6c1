import { execFile } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { parse } from 'yaml'
import { parseOptions } from '../../src/cli/cli-options.ts'
import { readConfigFile } from '../../src/cli/config-file.ts'
import { root } from '../dist/built.ts'
import { assert, suite } from '../support/suite.ts'
import { cleanUp, signalbox, temporaryFolder } from './command.ts'

const folder = join(root, 'examples/container')
const read = (name: string) => readFileSync(join(folder, name), 'utf8')
const dockerfile = read('Dockerfile').replaceAll('\\\n', ' ')
/** Returns the arguments of the last Dockerfile instruction with this name. */
const instruction = (name: string) => [...dockerfile.matchAll(new RegExp(`^${name} (.+)$`, 'gm'))].at(-1)?.[1] ?? ''
const readList = (text: string): string[] => JSON.parse(text.slice(text.indexOf('[')))

const test = suite('the container')
test.after(cleanUp)

test('the image runs the CLI as an unprivileged user, with valid options', async () => {
  const options = parseOptions(readList(instruction('CMD')))
  assert.equal([options.host, options.data, options.metrics, options.log], ['0.0.0.0', '/data', true, 'json'])
  assert.is(instruction('VOLUME'), options.data)
  assert.is(instruction('EXPOSE'), String(options.port))
  assert.is(
    instruction('USER'),
    '1000:1000',
    'the user "node" as a number, so that Kubernetes can tell that it is not root',
  )
  assert.is(instruction('STOPSIGNAL'), 'SIGTERM')
  assert.equal(readList(instruction('ENTRYPOINT')), ['node', 'node_modules/signalbox/dist/cli.js'])
  for (const [, image = ''] of dockerfile.matchAll(/^FROM (\S+)/gm))
    assert.match(image, /^node:24\.\d+\.\d+-slim@sha256:[0-9a-f]{64}$/)
  assert.match(
    dockerfile,
    /COPY package\.json package-lock\.json signalbox\.tgz \.\/\nRUN npm ci --omit=dev --ignore-scripts /,
  )
  assert.equal(JSON.parse(read('package.json')).dependencies, { signalbox: 'file:signalbox.tgz' })
  assert.not.match(dockerfile, /^ARG|TOKEN|SECRET|KEY/m, 'no secrets are built in')
  const { settings } = await readConfigFile(join(folder, options.config ?? ''), {})
  assert.equal(settings[0]?.input, { requireApiKey: true })
})

test('the container becomes healthy, requires a token for metrics, and exits on SIGTERM', async () => {
  const token = 'a-token-of-thirty-two-characters-or-more'
  const data = await temporaryFolder()
  const inImage: Record<string, string> = {
    '/data': data,
    'signalbox.yaml': join(folder, 'signalbox.yaml'),
    '0.0.0.0': '127.0.0.1',
    '4000': '0',
  }
  const args = readList(instruction('CMD')).map((arg) => inImage[arg] ?? arg)
  const running = signalbox(args, { env: { SIGNALBOX_METRICS_TOKEN: token } })
  const url = await running.baseUrl()
  const [, , check = ''] = readList(instruction('HEALTHCHECK'))
  const port = new URL(url).port
  const env = { NODE_USE_ENV_PROXY: '1', HTTP_PROXY: 'http://127.0.0.1:1' } // the health check must not use a proxy
  const health = (at: string) =>
    promisify(execFile)(process.execPath, ['-e', check.replace(':4000/', `:${at}/`)], { env })
  await health(port)
  const scrape = (headers: Record<string, string>) => fetch(new URL('/metrics', url), { headers })
  assert.is((await scrape({})).status, 401)
  assert.match(await (await scrape({ authorization: `Bearer ${token}` })).text(), /signalbox_build_info/)
  const requested = await fetch(new URL('/v1/models', url))
  assert.is(requested.status, 401, 'a key is required')
  await requested.text()
  assert.equal(await running.stop('SIGTERM'), { code: 0, signal: null })
  assert.is(
    await health(port).then(
      () => 'healthy',
      () => 'ill',
    ),
    'ill',
  )
})

test('rejects a short metrics token at startup', async () => {
  const { code } = await signalbox(['--metrics', '--data', await temporaryFolder()], {
    env: { SIGNALBOX_METRICS_TOKEN: 'short' },
  }).ended
  assert.is(code, 1)
})

test('the Compose file mounts existing files, and restricts and connects its services', () => {
  const { services, secrets, volumes } = parse(read('compose.yaml'), { merge: true })
  const { gateway, prometheus, grafana } = services
  assert.is(gateway.read_only, true)
  assert.equal(gateway.ports, ['127.0.0.1:4000:4000'])
  assert.ok(Number.parseInt(gateway.stop_grace_period, 10) > 10, 'in-flight requests have 10 seconds')
  const mounts: string[] = Object.values<{ volumes: string[] }>(services).flatMap((service) => service.volumes)
  for (const mount of mounts) {
    const [from = '', to = ''] = mount.replace(/\$\{SIGNALBOX_PACKAGE:-(.*?)\}/, '$1').split(':')
    if (from.startsWith('.')) assert.ok(existsSync(join(folder, from)), from)
    else assert.ok(from in volumes, from)
    assert.match(to, /^\//)
  }
  for (const [name, service] of Object.entries<Record<string, unknown>>(services)) {
    assert.equal([service.cap_drop, service.security_opt], [['ALL'], ['no-new-privileges:true']], name)
    assert.ok(service.pids_limit && service.mem_limit, `${name} has process and memory limits`)
    for (const port of [service.ports ?? []].flat()) assert.match(String(port), /^127\.0\.0\.1:/)
    if (service.image) assert.match(String(service.image), /^[\w/]+:v?\d+\.\d+\.\d+@sha256:[0-9a-f]{64}$/)
    if (service.secrets) assert.not(service.read_only, 'Compose cannot copy a secret into a read-only root')
  }
  for (const name of ['SIGNALBOX_ADMIN_TOKEN', 'SIGNALBOX_SECRET'])
    assert.is(gateway.environment[name], null, `${name} is passed on if it is set, and is unset otherwise`)
  assert.is(grafana.environment.GF_SECURITY_ADMIN_PASSWORD__FILE, `/run/secrets/${grafana.secrets[0]}`)
  assert.is(secrets[grafana.secrets[0]].environment, 'GRAFANA_PASSWORD')
  const { scrape_configs: scrapes, rule_files: rules } = parse(read('prometheus.yml'))
  const [{ metrics_path: path, authorization, static_configs: targets }] = scrapes
  assert.equal([path, targets], ['/metrics', [{ targets: ['gateway:4000'] }]])
  assert.is(authorization.credentials_file, `/run/secrets/${prometheus.secrets[0]}`)
  assert.is(secrets[prometheus.secrets[0]].environment, 'SIGNALBOX_METRICS_TOKEN')
  assert.ok(prometheus.volumes.some((mount: string) => mount.includes(`:${rules[0]}`)))
  const board = parse(read('grafana/dashboards.yml')).providers[0].options.path
  assert.ok(grafana.volumes.some((mount: string) => mount.includes(`:${board}/signalbox.json`)))
  assert.is(parse(read('grafana/datasource.yml')).datasources[0].url, 'http://prometheus:9090')
})
