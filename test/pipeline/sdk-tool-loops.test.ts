import { wireFormats } from '../../src/types/unions.ts'
import { assert, suite } from '../support/suite.ts'
import { clients } from './support/sdk/clients/clients.ts'
import { EXPECTED, SIGNATURE } from './support/sdk/conversation.ts'
import { MODEL, openToolLoop } from './support/sdk/gateway.ts'

const test = suite('SDK tool loops')

for (const [name, { create, format: own, refers }] of Object.entries(clients)) {
  for (const format of wireFormats) {
    for (const stream of [false, true]) {
      test(`an SDK runs its tool loop (${name}, ${format} provider${stream ? ', streamed' : ''})`, async () => {
        const { fetch, requests } = await openToolLoop(format, own)
        assert.equal(await create(fetch).converse(MODEL, { stream }), EXPECTED)
        assert.is(requests.length, 2)
        if (format === 'openai-chat') return // Chat Completions providers send no opaque data to return
        if (refers && format === own) return
        assert.ok(
          JSON.stringify(requests[1]).includes(SIGNATURE),
          "returned by the client or restored from the gateway's memory",
        )
      })
    }
  }
}
