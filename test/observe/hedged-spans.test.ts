import * as api from '@opentelemetry/api'
import type { ReadableSpan } from '@opentelemetry/sdk-trace-base'
import { otel } from '../../src/features/observe/otel.ts'
import { openHedging, P95, respond } from '../pipeline/support/hedging.ts'
import { json } from '../pipeline/support/upstream.ts'
import { assert, suite } from '../support/suite.ts'
import { sdk } from './sdk.ts'

const test = suite('spans of hedged requests')

const completions = 'SERVER POST /v1/chat/completions'

/**
 * Returns the data to compare for each attempt of a hedged request: its target, whether it is the hedge, its outcome, whether its span has an error,
 * and its start and end in ms after the request arrived.
 */
function getAttempts(spans: readonly ReadableSpan[]) {
  const ms = ([seconds, nanos]: api.HrTime) => seconds * 1_000 + nanos / 1e6
  const [request] = spans.filter(({ kind }) => kind === api.SpanKind.SERVER)
  const from = (time: api.HrTime) => Math.round(ms(time) - ms(request?.startTime ?? time))
  return spans
    .filter(({ kind }) => kind === api.SpanKind.CLIENT)
    .sort((span, other) => ms(span.startTime) - ms(other.startTime))
    .map(({ attributes, startTime, endTime, parentSpanContext, status }) => {
      assert.is(parentSpanContext?.spanId, request?.spanContext().spanId)
      const { 'gen_ai.provider.name': provider, 'signalbox.attempt.hedge': isHedge = false } = attributes
      const outcome = attributes['signalbox.attempt.outcome']
      const error = status.code === api.SpanStatusCode.ERROR
      return [provider, isHedge, outcome, error, from(startTime), from(endTime)]
    })
}

for (const stream of [false, true]) {
  const label = stream ? 'streamed' : 'not streamed'

  test(`the first span ends without an error if the second attempt of a hedged request responds first (${label})`, async () => {
    const { module, tree, spans, forget } = sdk()
    const world = await openHedging(
      { two: () => world.clock.sleep(5).then(() => respond(stream)) },
      { stream, observe: [otel(module)] },
    )
    forget()
    const pending = world.send().then((response) => response.text())
    await world.untilBoth()
    await world.clock.advance(5)
    await pending
    assert.equal(tree(), [completions, '  CLIENT chat m', '  CLIENT chat m'])
    assert.equal(getAttempts(spans()), [
      ['one', false, 'outrun', false, 0, P95 + 5],
      ['two', true, 'answered', false, P95, P95 + 5],
    ])
  })

  test(`both spans end without an error if the first attempt of a hedged request responds first (${label})`, async () => {
    const { module, tree, spans, forget } = sdk()
    const world = await openHedging(
      { one: () => world.clock.sleep(P95 + 3).then(() => respond(stream)) },
      { stream, observe: [otel(module)] },
    )
    forget()
    const pending = world.send().then((response) => response.text())
    await world.untilBoth()
    await world.clock.advance(3)
    await pending
    assert.equal(tree(), [completions, '  CLIENT chat m', '  CLIENT chat m'])
    assert.equal(getAttempts(spans()), [
      ['one', false, 'answered', false, 0, P95 + 3],
      ['two', true, 'outrun', false, P95, P95 + 3],
    ])
  })
}

test("only the first span has an error if a hedged request's first attempt fails", async () => {
  const { module, tree, spans, forget } = sdk()
  const world = await openHedging(
    {
      one: () => world.clock.sleep(P95 + 3).then(() => json({ error: { message: 'down' } }, 503)),
      two: () => world.clock.sleep(9).then(() => respond(false)),
    },
    { observe: [otel(module)] },
  )
  forget()
  const pending = world.send().then((response) => response.text())
  await world.untilBoth()
  await world.clock.advance(3)
  await world.clock.advance(6)
  await pending
  assert.equal(tree(), [completions, '  CLIENT chat m error=503 ERROR', '  CLIENT chat m'])
  assert.equal(getAttempts(spans()), [
    ['one', false, 'server', true, 0, P95 + 3],
    ['two', true, 'answered', false, P95, P95 + 9],
  ])
})

test('both spans of a hedged request end without an error if the client disconnects', async () => {
  const { module, tree, spans, forget } = sdk()
  const world = await openHedging({}, { observe: [otel(module)] })
  forget()
  const controller = new AbortController()
  const pending = world.send({ signal: controller.signal })
  await world.untilBoth()
  await world.clock.advance(4)
  controller.abort()
  await pending
  assert.equal(tree(), [completions, '  CLIENT chat m', '  CLIENT chat m'])
  assert.equal(getAttempts(spans()), [
    ['one', false, 'cancelled', false, 0, P95 + 4],
    ['two', true, 'cancelled', false, P95, P95 + 4],
  ])
})
