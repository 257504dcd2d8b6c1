import { assert, suite } from '../support/suite.ts'
import { chatResponse } from './support/responses.ts'
import { fakeUpstream, json, sse } from './support/upstream.ts'
import { openWorld } from './support/world.ts'

const test = suite('errors in a choice')

const failed = { index: 0, message: { role: 'assistant', content: '' }, finish_reason: 'error' }
const error = { code: 502, message: 'Provider disconnected' }

/** Returns the outcome of a request with this response from its first target. */
async function getAttempts(first: () => Response, stream = false) {
  const good = () =>
    stream ? sse(['data: {"choices":[{"delta":{"content":"a"},"finish_reason":"stop"}]}\n\n']) : json(chatResponse())
  const upstream = fakeUpstream(({ provider }) => (provider === 'one' ? first() : good()))
  const world = await openWorld({ fetch: upstream, combos: { chain: ['one/m', 'two/m'] } })
  const response = await world.chat({ model: 'chain', stream })
  await response.text()
  return response.headers.get('x-signalbox-attempts')?.replaceAll(';via=chain:fallback', '')
}

for (const [label, choice] of Object.entries({
  'with a message': { ...failed, error },
  'with only a finish reason': failed,
}))
  test(`an error in a choice counts as a target failure: ${label}`, async () => {
    assert.match(String(await getAttempts(() => json({ choices: [choice] }))), /^one\/m=502:\w+, two\/m=200$/)
  })

for (const extra of [{ error }, {}])
  test(`an error in the first event's choice counts as a target failure: ${'error' in extra ? 'with a message' : 'with only a finish reason'}`, async () => {
    const chunk = JSON.stringify({ choices: [{ index: 0, delta: {}, finish_reason: 'error', ...extra }] })
    const events = [`data: ${chunk}\n\n`, 'data: [DONE]\n\n']
    assert.match(String(await getAttempts(() => sse(events), true)), /^one\/m=502:\w+, two\/m=200$/)
  })
