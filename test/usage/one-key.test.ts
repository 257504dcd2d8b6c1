import type { StoredRequest } from '../../src/features/usage/request-record.ts'
import { decodeRequests, encodeRequests } from '../../src/features/usage/usage-codec.ts'
import { assert, suite } from '../support/suite.ts'
import { getRequest } from './support/instances.ts'

const test = suite("finding one key's requests in a stored value")

test("decoding one key's requests returns the same as decoding all and filtering, for any strings", () => {
  const odd = '],"rows":[["x",1,2,3,4,5],["'
  const target = { provider: 'one', model: odd, connectionId: 'c1' }
  const attempt = { ...target, outcome: 'answered', status: 200, startMs: 0, durationMs: 5, message: '"texts":[]}' }
  const tokens = { input: 1, output: 2, cacheRead: 0, cacheWrite: 0, reasoning: 0, inputAudio: 1 }
  const given: Array<Partial<StoredRequest>> = [
    { keyId: 'k1', model: odd, user: ',["', reason: ']}' },
    { keyId: 'k2', attempts: [attempt, { ...attempt, tokens, units: { image: 2 } }], target },
    { keyId: odd, warnings: ['k1', ',["k2"'], metadata: { '],"rows":[': '"texts":' } },
    {
      keyId: 'k1',
      skipped: [
        { ...target, skipped: 'cooling' },
        { entry: odd, skipped: 'nowhere' },
      ],
      attempts: [],
    },
    { keyId: 'k2', user: 'k3' },
    { keyId: '"k1"' },
  ]
  const requests = Array.from({ length: 30 }, (_, index) =>
    getRequest(1_770_000_000_000 + index, given[index % given.length]),
  )
  const text = encodeRequests(requests, 1)
  const all = decodeRequests(text) ?? []
  assert.is(all.length, requests.length)
  for (const keyId of ['k1', 'k2', 'k3', '"k1"', odd, 'one', 'nobody'])
    assert.equal(
      decodeRequests(text, keyId),
      all.filter((request) => request.keyId === keyId),
      keyId,
    )
  assert.is(decodeRequests('{"at":1,"texts":"k1"}', 'k1'), undefined)
  assert.is(decodeRequests('{"at":1,"texts":["k1"],"rows":[["id",0,0,0,1,', 'k1'), undefined)
})
