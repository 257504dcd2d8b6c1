import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { fileStorage } from '../../adapters/storage/file.ts'
import { jsonLog } from '../../src/features/observe/log.ts'
import { otel } from '../../src/features/observe/otel.ts'
import { prometheus } from '../../src/features/observe/prometheus.ts'
import { createGateway } from '../../src/gateway.ts'
import type { CredentialRequest } from '../../src/types.ts'
import { sdk } from '../observe/sdk.ts'
import { chatEvents, chatResponse } from '../pipeline/support/responses.ts'
import { sse } from '../pipeline/support/upstream.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('secrets in credential functions')

const ADMIN = 'management-token-of-forty-characters-000'

/** The secrets are ordinary words, so nothing redacts them because of their shape. */
const secrets = {
  plain: 'walrus-umbrella-cobalt-fandango',
  rotated: 'meadow-trombone-quartz-lanterns',
  awsSecret: 'wombatUmbrellaCobaltFandangoPickledHerring',
  awsToken: 'giraffeTrombone0Quartz0Lanterns',
  thrown: 'badger-mandolin-scarlet-orchids',
  cause: 'otter-harmonica-indigo-thistles',
  rejected: 'ferret-xylophone-amber-marigold',
  malformed: 'lynx-accordion-violet-primroses',
}

/** A provider's response to a call that contains one of the secrets. */
const respondQuoting = (status: number, secret: string) =>
  Response.json(
    {
      error: {
        message: `The key ${secret} (${encodeURIComponent(secret)}) is not allowed`,
        type: secret,
        code: secret,
      },
    },
    { status, headers: { 'x-request-id': secret, 'x-ratelimit-reset': secret, 'retry-after': '1' } },
  )

const sources = {
  plain: () => ({ apiKey: secrets.plain }),
  rotating: ({ reason }: CredentialRequest) => (reason === 'rejected' ? secrets.rotated : secrets.rejected),
  aws: () => ({
    accessKeyId: 'ASIAIOSFODNN7EXAMPLE',
    secretAccessKey: secrets.awsSecret,
    sessionToken: secrets.awsToken,
  }),
  throwing: () => {
    const cause = new Error(`the vault says ${secrets.cause}`)
    const error = new Error(`cannot read ${secrets.thrown}`, { cause })
    throw Object.assign(error, { code: secrets.thrown, response: { headers: { authorization: secrets.thrown } } })
  },
  rejecting: () => Promise.reject(`a string with ${secrets.thrown}`),
  malformed: () => `${secrets.malformed} and more`,
  odd: () => ({ apiKey: [secrets.malformed] }) as never,
  never: () => ({ apiKey: secrets.plain, expiresAt: secrets.malformed }) as never,
  unreadable: () => ({
    get apiKey(): string {
      throw new Error(`cannot decrypt ${secrets.thrown}`)
    },
  }),
  hostile: () => {
    throw {
      get code() {
        throw new Error(secrets.thrown)
      },
      toString: () => secrets.thrown,
    }
  },
}

test('no response, page, record, hook, log, metric, trace, export, or stored byte shows a secret', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'credential-secrets-'))
  try {
    await search(folder)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})

async function search(folder: string): Promise<void> {
  const shown = new Map<string, string>()
  const show = (location: string, what: unknown) => {
    const text =
      typeof what === 'string' ? what : inspect(what, { depth: null, showHidden: true, maxStringLength: null })
    shown.set(location, `${shown.get(location) ?? ''}\n${text}`)
  }
  const causes: unknown[] = []
  const level =
    (name: string) =>
    (...line: unknown[]) =>
      show(`the log, level ${name}`, line)
  const { module, spans, metrics } = sdk()
  const storage = fileStorage(folder)
  const gateway = createGateway({
    storage,
    secret: 'the-secret-of-this-gateway-0123456789',
    management: { token: ADMIN },
    connections: Object.fromEntries(
      Object.entries(sources).map(([name, apiKey]) => [
        name,
        name === 'aws'
          ? {
              provider: 'bedrock',
              apiKey,
              providerSpecificData: { region: 'eu-central-1', baseUrl: 'http://aws.test' },
            }
          : { provider: `openai-compatible-${name}`, baseUrl: `http://${name}.test/v1`, apiKey },
      ]),
    ),
    combos: { all: ['openai-compatible-throwing/m', 'openai-compatible-malformed/m', 'openai-compatible-plain/fine'] },
    identify: (request) => ({ account: request.headers.get('x-user') ?? 'alice' }),
    fetch: async (url: unknown, init?: RequestInit) => {
      const { host } = new URL(String(url))
      const body = String(init?.body)
      const authorization = new Headers(init?.headers).get('authorization') ?? ''
      if (body.includes('"fine"'))
        return body.includes('"stream":true') ? sse(chatEvents()) : Response.json(chatResponse())
      if (body.includes('"breaks"'))
        return sse([
          ...chatEvents().slice(0, 2),
          `data: {"error":{"message":"bad key ${secrets.plain}","code":500}}\n\n`,
        ])
      if (host === 'rotating.test' && authorization.includes(secrets.rotated))
        return respondQuoting(400, secrets.rejected)
      if (host === 'aws.test') return respondQuoting(403, `${secrets.awsSecret} and ${secrets.awsToken}`)
      return respondQuoting(
        host === 'rotating.test' ? 401 : 429,
        host === 'rotating.test' ? secrets.rejected : secrets.plain,
      )
    },
    observe: [otel(module), prometheus({ token: ADMIN }), jsonLog((line) => show('the JSON log', line))],
    logger: Object.assign(
      { warn: level('warn'), error: level('error') },
      { debug: level('debug'), info: level('info'), trace: level('trace') },
    ),
    hooks: {
      onRequest: (record) => show('onRequest', record),
      onAttempt: (record) => show('onAttempt', record),
      onUsage: (record) => show('onUsage', record),
      onError: (error) => {
        const { cause, ...rest } = Object.assign(Object.create(null), error)
        causes.push(error instanceof Error ? error.cause : undefined)
        show('onError without its cause', [
          String(error),
          error instanceof Error && error.stack?.split('[cause]')[0],
          rest,
        ])
        void cause
      },
    },
  })
  const call = async (location: string, path: string, init: RequestInit = {}) => {
    const response = await gateway.fetch(`http://gateway${path}`, init)
    const text = await response.text()
    show(location, `${response.status} ${JSON.stringify([...response.headers])} ${text}`)
    return { status: response.status, text }
  }
  const send = (model: string, extra: object = {}) =>
    call(`the response of ${model}`, '/v1/chat/completions', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Hi' }], ...extra }),
    })

  const asAdmin = { headers: { authorization: `Bearer ${ADMIN}` } }
  const live = await gateway.fetch('http://gateway/api/live', asAdmin)
  const following = live.text()

  for (const stream of [false, true]) {
    for (const name of Object.keys(sources))
      await send(name === 'aws' ? 'bedrock/m' : `openai-compatible-${name}/m`, { stream })
    for (const model of ['openai-compatible-plain/fine', 'openai-compatible-plain/breaks', 'all'])
      await send(model, { stream })
  }
  await call('the response in the Anthropic format', '/v1/messages', {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'anthropic-version': '2023-06-01' },
    body: JSON.stringify({
      model: 'openai-compatible-plain/m',
      max_tokens: 9,
      messages: [{ role: 'user', content: 'Hi' }],
    }),
  })
  assert.match(shown.get('the response of openai-compatible-plain/m') ?? '', /\[credential\]/)

  const paths = await listPages(async (path) => (await call(path, path, asAdmin)).text)
  let pages = 0
  for (const path of paths) if ((await call(path, path, asAdmin)).status === 200) pages++
  assert.ok(pages > 20, `only ${pages} of ${paths.length} pages were found`)
  for (const type of ['text/csv', 'application/jsonl', 'application/x-ndjson'])
    for (const path of ['/api/usage', '/api/usage/requests'])
      await call(`${path} as ${type}`, path, { headers: { ...asAdmin.headers, accept: type } })
  await call('the test of a connection', '/api/connections/plain/test', { method: 'POST', ...asAdmin })
  show(
    'the traces',
    spans().map(({ name, attributes, events, status }) => ({ name, attributes, events, status })),
  )
  show('the metrics of OpenTelemetry', await metrics())
  await gateway.close()
  show('the live feed', await following)
  show('the storage', (await storage.list('')).map(({ key, value }) => `${key} ${value}`).join('\n'))
  await storage.close?.()
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true }))
    if (entry.isFile()) show('the bytes of the files', await readFile(join(entry.parentPath, entry.name), 'latin1'))

  const found = [...shown].flatMap(([location, text]) =>
    Object.entries(secrets).flatMap(([name, secret]) => {
      const form = getForms(secret).find((each) => text.includes(each))
      return form === undefined ? [] : [`${location} shows ${name}: …${excerpt(text, form)}…`]
    }),
  )
  assert.equal(found, [])
  for (const location of [
    'onRequest',
    'the live feed',
    'onAttempt',
    'onUsage',
    'the log, level error',
    'the JSON log',
    'the traces',
    'the bytes of the files',
  ])
    assert.ok((shown.get(location)?.length ?? 0) > 100, `${location} is empty`)
  for (const secret of [secrets.thrown, secrets.cause])
    assert.ok(
      causes.some((cause) => inspect(cause).includes(secret)),
      `no error passed to onError has ${secret} in its causes`,
    )
}

/** Lists the dashboard pages without parameters, and the pages of a connection, an account, a combo, and a request. */
async function listPages(read: (path: string) => Promise<string>): Promise<string[]> {
  const { paths }: { paths: Record<string, object> } = JSON.parse(await read('/api/openapi.json'))
  const { requests }: { requests: Array<{ id: string }> } = JSON.parse(await read('/api/usage/requests'))
  const ids = ['plain', 'alice', 'all', 'openai-compatible-plain', requests[0]?.id ?? '']
  return Object.entries(paths).flatMap(([path, methods]) => {
    if (!('get' in methods) || path.endsWith('/live')) return []
    return path.includes('{') ? ids.map((id) => path.replace(/\{[^}]+\}/g, encodeURIComponent(id))) : [path]
  })
}

function getForms(secret: string): string[] {
  const bytes = Buffer.from(secret)
  return [
    secret,
    secret.slice(4, -4),
    bytes.toString('base64').slice(0, 24),
    bytes.toString('hex'),
    encodeURIComponent(secret),
  ]
}

const excerpt = (text: string, form: string) =>
  text.slice(Math.max(0, text.indexOf(form) - 150), text.indexOf(form) + 60)
