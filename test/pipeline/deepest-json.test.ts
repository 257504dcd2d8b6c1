import { wireFormats } from '../../src/types/unions.ts'
import { busyMs, roundsUntil } from '../support/cpu-time.ts'
import { assert, suite } from '../support/suite.ts'
import { catalog, connections, isParsed, nestJson, questions, responses } from './support/deep-json.ts'
import { fakeUpstream, json } from './support/upstream.ts'
import { openWorld } from './support/world.ts'

const test = suite('JSON that is nested too deeply to be parsed')

/** Parsing this many levels takes at least 0.3 s. */
const DEEPEST = 800_000
const deepest = `{"a":${'['.repeat(DEEPEST)}${']'.repeat(DEEPEST)}}`
const LITTLE_MS = 100
/** JSON of the same length without nesting. On a slow machine, just translating such a stream may take more than `LITTLE_MS`. */
const flat = JSON.stringify({ a: 'x'.repeat(2 * DEEPEST - 2) })
const TIMES_FLAT = 1.5

for (const [output, reply] of Object.entries(responses)) {
  const [provider = ''] = output.split(',')
  for (const client of wireFormats) {
    for (const stream of [false, true]) {
      test(`JSON with 800,000 levels in a ${stream ? 'stream' : 'response'} is handled quickly (${output} provider, ${client} client)`, async () => {
        const bodies: Response[] = []
        const upstream = fakeUpstream(() => bodies.shift() ?? json({}))
        const world = await openWorld({ fetch: upstream, catalog, connections })
        const send = async (args: string) => {
          const created = stream ? reply.stream(args) : reply.whole(args)
          bodies.push(new Response(await created.arrayBuffer(), created))
          const before = busyMs()
          const response = await world.post(...questions[client](`${provider}/m`, stream))
          const text = await response.text()
          return { response, text, ms: busyMs() - before }
        }
        let [leastMs, leastFlatMs] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY]
        const times = await roundsUntil(TIMES_FLAT, async () => {
          const { response, text, ms } = await send(deepest)
          const isPassedOn = stream
            ? !isParsed(output, client, true)
            : output === 'chat' && !isParsed(output, client, false)
          assert.is(/deeper than (?:64|10000) levels/.test(text), !isPassedOn, text.slice(0, 300))
          assert.is(response.status, stream || isPassedOn ? 200 : 502)
          assert.equal(world.recorded.errors, [])
          leastMs = Math.min(leastMs, ms)
          if (leastMs <= LITTLE_MS) return 1
          leastFlatMs = Math.min(leastFlatMs, (await send(flat)).ms)
          return leastMs / leastFlatMs
        })
        assert.ok(Math.min(...times) <= TIMES_FLAT, `${leastMs} ms, and ${leastFlatMs} ms without nesting`)
      })
    }

    test(`JSON with 9,900 levels in a response is passed through, or returns a 502 (${output} provider, ${client} client)`, async () => {
      const world = await openWorld({ fetch: fakeUpstream(() => reply.whole(nestJson(9_900))), catalog, connections })
      const response = await world.post(...questions[client](`${provider}/m`, false))
      assert.is(response.status, isParsed(output, client, false) ? 502 : 200)
      await response.text()
      assert.equal(world.recorded.errors, [])
    })
  }
}

test('a provider response with 800,000 levels of JSON is invalid, and is rejected quickly', async () => {
  const deep = deepest.slice(5, -1)
  const world = await openWorld({ fetch: fakeUpstream(() => json(deep)), catalog, connections })
  for (const model of ['chat/m', 'responses/m', 'claude/m', 'bedrock/m']) {
    const costs = await roundsUntil(LITTLE_MS, async () => {
      const before = busyMs()
      const response = await world.post(...questions['openai-chat'](model, false))
      const ms = busyMs() - before
      assert.is(response.status, 502)
      const text = await response.text()
      assert.match(text, /JSON nested deeper than 10000 levels/)
      return ms
    })
    assert.ok(Math.min(...costs) <= LITTLE_MS, `${costs}`)
  }
})
