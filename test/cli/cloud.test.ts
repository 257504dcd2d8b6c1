import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { runCommand } from '../../src/cli/commands/run-command.ts'
import { isProblem } from '../../src/cli/problem.ts'
import { assert, suite } from '../support/suite.ts'

/** Runs a command against a server that looks up its responses by method, path, and action. */
async function run(args: string[], responses: Record<string, object>, variables: Record<string, string> = {}) {
  const sent: string[] = []
  const server = createServer(async (request, response) => {
    const body: { action?: string } = JSON.parse((await text(request)) || '{}')
    const { action, ...input } = body
    sent.push([action ?? `${request.method} ${request.url}`, JSON.stringify(input)].join(' '))
    const reply = responses[action ?? `${request.method}`] ?? { error: 'unexpected' }
    response.writeHead('error' in reply ? 502 : 200, { 'content-type': 'application/json' })
    response.end(JSON.stringify(reply))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  let out = ''
  let err = ''
  const terminal = {
    out: (line: string) => {
      out += line
    },
    err: (line: string) => {
      err += line
    },
  }
  try {
    await runCommand(['cloud', ...args, '--url', url], { variables, stdin: async () => '', terminal })
  } catch (error) {
    if (!isProblem(error)) throw error
    err += error.message
  } finally {
    server.closeAllConnections()
    server.close()
  }
  return { sent, out, err }
}

const test = suite('signalbox cloud')

const conflict = { collection: 'keys', id: 'k1', kept: 'gateway', at: '2026-01-01T00:00:00.000Z' }
const CONFLICTS = `Changed on both sides (KEPT is the side whose change won):
COLLECTION  ID  KEPT     AT
keys        k1  gateway  2026-01-01T00:00:00.000Z
`

test('shows the cloud sync status and conflicts', async () => {
  const state = { cloudEnabled: true, cloudUrl: 'https://c.test', lastSuccessAt: null, lagMs: 0, lastError: null }
  const { out, sent } = await run([], { GET: { ...state, conflicts: [conflict] } })
  assert.is(
    out,
    `cloudEnabled   true\ncloudUrl       https://c.test\nlastSuccessAt  -\nlagMs          0\nlastError      -\n${CONFLICTS}`,
  )
  assert.equal(sent, ['GET /api/sync/cloud {}'])
})

const UNSET = { cloudUrl: '' }
const SET = { cloudUrl: 'https://c.test' }

test('cloud enable saves the URL, sends the enrollment token, and prints the new key', async () => {
  const createdKey = { key: 'sbx_made', id: 'k1', name: 'cloud', createdAt: '2026-01-01T00:00:00.000Z' }
  const { out, err, sent } = await run(
    ['enable', 'https://c.test/v1'],
    { GET: UNSET, PATCH: SET, enable: { success: true, verified: true, createdKey, conflicts: [] } },
    { SIGNALBOX_ENROLLMENT_TOKEN: 'an enrollment token' },
  )
  assert.equal(sent, [
    'GET /api/settings {}',
    'PATCH /api/settings {"cloudUrl":"https://c.test"}',
    'enable {"enrollmentToken":"an enrollment token"}',
  ])
  assert.is(err, '')
  assert.match(
    out,
    /^Cloud sync is on, and a test request to the cloud succeeded\.\nYou had no API key, so one was created:\nkey +sbx_made\n/,
  )
  assert.match(out, /\nClients can now use https:\/\/c\.test\/v1\.\n$/)
})

test("cloud enable succeeds with warnings if cloud sync can't be verified", async () => {
  const enable = {
    success: true,
    verified: false,
    verifyError: '503 of the proxy',
    conflicts: [],
    warnings: ['The cloud proxy may not reach "lab".'],
  }
  const { out, err, sent } = await run(['enable'], { GET: SET, enable })
  assert.equal(sent, ['GET /api/settings {}', 'enable {}'])
  assert.is(out, 'Cloud sync is on.\nClients can now use https://c.test/v1.\n')
  assert.is(
    err,
    'signalbox: warning: Cloud sync could not be verified: 503 of the proxy\nsignalbox: warning: The cloud proxy may not reach "lab".\n',
  )
  const json = await run(['enable', '--json'], { GET: SET, enable })
  assert.equal([JSON.parse(json.out), json.err], [enable, ''])
})

test('cloud enable restores the previous URL if it fails, even an empty one', async () => {
  for (const before of ['', 'https://before.test']) {
    const responses = { GET: { cloudUrl: before }, PATCH: SET, enable: { error: 'There is no proxy.' } }
    const { out, err, sent } = await run(['enable', 'https://c.test'], responses)
    assert.equal(sent, [
      'GET /api/settings {}',
      'PATCH /api/settings {"cloudUrl":"https://c.test"}',
      'enable {}',
      `PATCH /api/settings {"cloudUrl":"${before}"}`,
    ])
    assert.equal([out, err], ['', 'There is no proxy.'])
  }
  const same = await run(['enable', 'https://c.test'], {
    GET: SET,
    PATCH: SET,
    enable: { error: 'There is no proxy.' },
  })
  assert.is(same.sent.length, 3)
})

test('cloud disable syncs first, and warns if that fails', async () => {
  const disable = { success: true, conflicts: [] }
  const { out, err, sent } = await run(['disable', '--force'], { sync: { error: 'The cloud is away.' }, disable })
  assert.equal(sent, ['sync {}', 'disable {"force":true}'])
  assert.equal([out, err], ['Cloud sync is off.\n', 'signalbox: warning: The final sync failed: The cloud is away.\n'])
})

test('cloud sync and cloud check print their result or the reason for a failure', async () => {
  const sync = await run(['sync'], { sync: { success: true, conflicts: [conflict] } })
  assert.is(sync.out, `Synced with the cloud.\n${CONFLICTS}`)
  assert.is((await run(['check'], { check: { message: 'It is running.' } })).out, 'It is running.\n')
  assert.equal(await run(['check'], { check: { error: 'No proxy is there' } }), {
    sent: ['check {}'],
    out: '',
    err: 'No proxy is there.',
  })
})

test('cloud sessions lists the sessions, and cloud sessions revoke ends one', async () => {
  const session = { id: 's1', createdAt: '2026-01-01T00:00:00.000Z', lastUsedAt: '2026-01-02T00:00:00.000Z' }
  const listed = await run(['sessions'], { GET: { sessions: [session] } })
  assert.equal(listed.sent, ['GET /api/sync/cloud/sessions {}'])
  assert.is(
    listed.out,
    'ID  CREATED                   LAST USED\ns1  2026-01-01T00:00:00.000Z  2026-01-02T00:00:00.000Z\n',
  )
  const revoked = await run(['sessions', 'revoke', 's1'], { DELETE: { success: true } })
  assert.equal([revoked.sent, revoked.out], [['DELETE /api/sync/cloud/sessions/s1 {}'], 'Ended session "s1".\n'])
})
