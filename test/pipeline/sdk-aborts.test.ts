import { wireFormats } from '../../src/types/unions.ts'
import { assert, suite } from '../support/suite.ts'
import { clients } from './support/sdk/clients/clients.ts'
import { MODEL, openBefore, outputBy } from './support/sdk/gateway.ts'
import { fakeUpstream, never, sse } from './support/upstream.ts'

const test = suite('SDKs that disconnect')

for (const [name, { create }] of Object.entries(clients)) {
  for (const format of wireFormats) {
    test(`aborting cancels the provider call, both while waiting and mid-stream (${name}, ${format} provider)`, async () => {
      const { events } = outputBy(format).response
      const started = events.slice(0, events.findIndex((event) => event.includes('Paris')) + 1)
      for (const stream of [false, true]) {
        const controller = new AbortController()
        const upstream = fakeUpstream(() => {
          if (stream) return sse(started, 'hang')
          queueMicrotask(() => controller.abort())
          return never()
        })
        const { fetch } = await openBefore(format, upstream)
        const onText = () => controller.abort()
        const left = create(fetch).send(MODEL, { stream, signal: controller.signal, onText })
        const outcome = await left.then(
          () => 'an answer',
          () => 'left',
        )
        assert.equal(
          [outcome, upstream.calls.length, upstream.open],
          ['left', 1, 0],
          stream ? 'in mid stream' : 'waiting',
        )
      }
    })
  }
}
