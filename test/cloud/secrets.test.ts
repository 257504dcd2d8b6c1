import { inspect } from 'node:util'
import { memoryStorage } from '../../adapters/storage/memory.ts'
import { digestKey } from '../../src/features/cloud-sync/cryptography.ts'
import type { Logger, Storage } from '../../src/types.ts'
import { assert, suite } from '../support/suite.ts'
import { CLOUD_URL, HOME_SECRET, type OverMsw, openOverMsw, PROVIDER_KEY, type Recorded } from './support/over-msw.ts'
import { ENROLLMENT_TOKEN, SECRET } from './support/proxy.ts'

const test = suite('secrets in cloud sync')

const WRONG_ENROLLMENT = 'a-wrong-credential-of-forty-characters--'
const ROTATED = 'sk-second-key-of-the-provider-0123456789'

/** Records log lines at every level. */
function keepingLogger(lines: string[]): Logger {
  const keep = (...line: unknown[]) => void lines.push(inspect(line, { depth: null, showHidden: true }))
  return Object.assign({ warn: keep, error: keep }, { debug: keep, info: keep })
}

/**
 * Runs everything a sync does, including failures. Returns everything observable (messages, storages, and logs), and the secrets it must not contain.
 */
async function live() {
  const lines: string[] = []
  const logger = keepingLogger(lines)
  const storages = { home: memoryStorage(), cloud: memoryStorage() }
  /** The contents of both storages after each step. */
  const copies: Array<{ home: string; cloud: string }> = []
  const ends = openOverMsw({
    home: { storage: storages.home, logger, cloud: {} },
    cloud: { storage: storages.cloud, logger },
  })
  const copy = async () => {
    copies.push({ home: await getText(storages.home), cloud: await getText(storages.cloud) })
  }
  const step = async (action: () => Promise<unknown>) => {
    await action().catch((error: unknown) => void lines.push(inspect(error, { depth: null, showHidden: true })))
    await copy()
  }
  const { api } = ends.home
  await api.connections.put({ id: 'openai', provider: 'openai', apiKey: PROVIDER_KEY })
  const { key, id } = await api.keys.create({ name: 'app' })
  await api.settings.update({ cloudUrl: CLOUD_URL })
  await step(() => api.cloud.enable())
  await step(() => api.cloud.enable({ enrollmentToken: WRONG_ENROLLMENT }))
  await step(() => api.cloud.enable({ enrollmentToken: ENROLLMENT_TOKEN }))
  assert.is((await api.settings.get()).cloudEnabled, true)

  const cloud = (await ends.tenant()).api
  const atCloud = await cloud.keys.create({ name: 'made at the cloud' })
  await copy()
  await step(() => api.connections.update('openai', { apiKey: ROTATED }))
  await step(() => api.cloud.sync())
  for (const value of [key, atCloud.key]) assert.is((await ends.chat(value)).status, 200)
  await step(() => api.keys.update(id, { isActive: false }))
  ends.setAway(true)
  await step(() => api.cloud.sync())
  ends.setAway(false)
  ends.restart()
  await step(() => ends.home.api.cloud.sync())
  await step(() => ends.home.api.cloud.sessions.list())
  return { ends, lines, copies, storages, keys: [key, atCloud.key] }
}

/** Returns each secret in plain and encoded forms. */
const spellings = (secrets: string[]): string[] =>
  secrets.flatMap((secret) => {
    const bytes = Buffer.from(secret)
    return [secret, bytes.toString('hex'), bytes.toString('base64').replace(/=*$/, ''), bytes.toString('base64url')]
  })

const isOpening = ({ method, path }: Recorded) => method === 'POST' && path === '/cloud/1/sessions'

test('messages, storages, and logs contain no secrets except the enrollment token and client key in their requests', async () => {
  const { ends, lines, copies, keys } = await live()
  const secrets = spellings([PROVIDER_KEY, ROTATED, SECRET, HOME_SECRET, ENROLLMENT_TOKEN, WRONG_ENROLLMENT, ...keys])
  const digests = spellings(await Promise.all(keys.map((key) => digestKey(key))))
  const inText = (text: string) => [...secrets, ...digests].filter((secret) => text.includes(secret))

  assert.ok(ends.recorded.length > 15, `${ends.recorded.length} messages`)
  for (const { status, ...message } of ends.recorded) {
    const location = `${message.method} ${message.path}, which was answered ${status}`
    const text = JSON.stringify(message)
    const enrolling = JSON.stringify({ ...message, body: message.body.replace(/"enrollmentToken":"[^"]+"/, '') })
    const verifying = JSON.stringify({ ...message, headers: { ...message.headers, authorization: '' } })
    const isClients = message.path === '/v1/models'
    assert.equal(inText(isOpening({ ...message, status }) ? enrolling : isClients ? verifying : text), [], location)
  }
  const recorded = ends.recorded.filter(({ body }) => body.includes(ENROLLMENT_TOKEN))
  assert.equal(
    recorded.map(({ path, status }) => [path, status]),
    [['/cloud/1/sessions', 200]],
    'the enrollment token is sent once',
  )

  for (const { home, cloud } of copies) {
    assert.equal(inText(home), [], "secrets in a copy of the gateway's storage")
    const atCloud = inText(cloud).filter((secret) => !digests.includes(secret)) // the proxy stores digests of keys, which don't work as credentials
    assert.equal(atCloud, [], "secrets in a copy of the cloud's storage")
  }
  assert.ok(lines.length > 0)
  for (const line of lines) assert.equal(inText(line), [], line)
  await ends.close()
})

test('neither storage contains unencrypted gateway or session keys', async () => {
  const { ends, copies } = await live()
  for (const copy of copies.flatMap(({ home, cloud }) => [home, cloud])) {
    assert.not.match(copy, /"(?:privateKey|secret|d)\\*":/)
    assert.not.match(copy, /"kty|PRIVATE KEY/)
  }
  await ends.close()
})

test("an attacker with a client key, all messages, and a copy of the storage can't decrypt anything", async () => {
  const { ends, storages, keys } = await live()
  const held = [...ends.recorded]
  const stolen = await getText(storages.cloud)
  for (const restarted of [false, true]) {
    if (restarted) ends.restart()
    for (const { method, path, headers, body } of held) {
      if (path === '/v1/models') continue // the key is supposed to work for model requests
      const response = await repeat(ends, { method, path, headers, body })
      if (path === '/cloud/1' || path === '/cloud/1/challenges') assert.is(response.status, 200)
      else assert.is(response.status, 401, `${method} ${path}: ${response.text}`)
    }
  }

  const sessions = [...stolen.matchAll(/sessions\/[^/"\\]+\/([^"\\]+)/g)].map(([, name]) => name ?? '')
  assert.ok(sessions.length > 0)
  const credentials = [...keys, ...getKeys(stolen)]
  for (const credential of credentials)
    for (const [method, path] of [
      ['GET', '/cloud/1/sessions'],
      ['DELETE', '/cloud/1/mirror'],
      ['POST', '/cloud/1/mirror'],
    ] as const) {
      const session = sessions[0] ?? ''
      for (const headers of [
        { authorization: `Bearer ${credential}` },
        { 'x-api-key': credential, 'x-signalbox-cloud-session': session, 'x-signalbox-cloud-counter': '9999' },
        {
          'x-signalbox-cloud-session': session,
          'x-signalbox-cloud-counter': '9999',
          'x-signalbox-cloud-signature': Buffer.from(credential).toString('base64'),
        },
      ]) {
        const body = method === 'POST' ? '{"sealed":"AAAAAAAAAAAAAAAA.AAAAAAAAAAAAAAAAAAAAAAAA"}' : ''
        const response = await repeat(ends, { method, path, headers, body })
        assert.is(response.status, 401, response.text)
      }
    }

  // A stored value doesn't work as an API key.
  for (const credential of getKeys(stolen)) {
    const response = await repeat(ends, {
      method: 'GET',
      path: '/v1/models',
      headers: { authorization: `Bearer ${credential}` },
      body: '',
    })
    assert.is(response.status, 401, credential)
  }
  await ends.close()
})

async function repeat(
  { proxy }: OverMsw,
  { method, path, headers, body }: Pick<Recorded, 'method' | 'path' | 'headers' | 'body'>,
): Promise<{ status: number; text: string }> {
  const response = await proxy.fetch(
    new Request(`${CLOUD_URL}${path}`, { method, headers, ...(body !== '' && { body }) }),
  )
  return { status: response.status, text: await response.text() }
}

async function getText(storage: Storage): Promise<string> {
  return JSON.stringify(await storage.list(''))
}

/** Finds distinct strings in a store that are long enough to be credentials. */
const getKeys = (text: string): string[] => [...new Set(text.match(/[\w+/=-]{32,400}/g))].slice(0, 200)
