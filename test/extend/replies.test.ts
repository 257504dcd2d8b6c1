import { assert, suite } from '../support/suite.ts'
import { openExtended } from './world.ts'

const test = suite('step errors and response headers')

for (const [location, step] of [
  ['around a request', 'aroundRequest'],
  ['around a call', 'aroundCall'],
] as const)
  test(`a bug in a step ${location} is recorded as a failure`, async () => {
    const { chat, records, errors } = await openExtended([
      {
        name: 'broken',
        [step]() {
          throw new TypeError('a bug')
        },
      },
    ])
    assert.is((await chat({})).status, 500)
    assert.equal([records[0]?.end, records[0]?.status, records[0]?.error], ['failed', 500, 'INTERNAL'])
    assert.equal(errors.map(String), ['TypeError: a bug'])
  })

test('a request that a step rejects is recorded as "refused"', async () => {
  const { chat, records } = await openExtended([{ name: 'strict', aroundCall: async (call) => call.reject('No.') }])
  assert.is((await chat({})).status, 403)
  assert.equal([records[0]?.end, records[0]?.status], ['refused', 403])
})

test('a response returned by a step keeps all of its cookies', async () => {
  const cookies = ['a=1; Expires=Wed, 21 Oct 2026 07:28:00 GMT', 'b=2']
  const createResponse = () => {
    const response = Response.json({ ok: true })
    for (const cookie of cookies) response.headers.append('set-cookie', cookie)
    return response
  }
  const { chat, send, addKey } = await openExtended([
    {
      name: 'cookies',
      aroundCall: async () => createResponse(),
      areas: [{ path: '/cookies', routes: [{ method: 'GET', path: '/cookies', run: createResponse }] }],
    },
  ])
  const key = await addKey('limited', { requests: { day: 5 } })
  for (const reply of [
    await chat({}),
    await chat({}, key),
    await send('GET', '/cookies'),
    await send('HEAD', '/cookies'),
  ])
    assert.equal(reply.headers.getSetCookie(), cookies)
})
