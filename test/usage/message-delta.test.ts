import type { JsonObject } from '../../src/lib/json.ts'
import { assert, suite } from '../support/suite.ts'
import { clients, getUsage, providers, SAID } from './support/reporting.ts'

const test = suite('input tokens at the start and end of a Messages stream')

const input = (plain: number | null, read?: number | null, write?: number) => ({
  input_tokens: plain,
  ...(read !== undefined && { cache_read_input_tokens: read }),
  ...(write !== undefined && { cache_creation_input_tokens: write }),
})

/** The charged input tokens: all of them, cache reads, and cache writes. */
type Charged = readonly [input: number, read: number, write: number]

const rows: ReadonlyArray<readonly [what: string, start: JsonObject, delta: JsonObject, charged: Charged]> = [
  ['the delta has no input count', input(100), {}, [100, 0, 0]],
  ["the delta's input count is null", input(100, 20), input(null, null), [120, 20, 0]],
  ["the delta's input count is 0", input(100), input(0), [100, 0, 0]],
  ['all delta counts are 0', input(100, 50, 10), input(0, 0, 0), [160, 50, 10]],
  ['the delta repeats the cached tokens with an input count of 0', input(20, 80), input(0, 80), [100, 80, 0]],
  ["the delta repeats the start's counts", input(20, 80, 5), input(20, 80, 5), [105, 80, 5]],
  ["the delta's input count is higher", input(20, 80), input(500, 80), [580, 80, 0]],
  ['the delta splits the total into input and cache reads', input(100), input(20, 80), [100, 80, 0]],
  [
    'the delta splits the total into input, cache reads, and cache writes',
    input(100),
    input(20, 50, 30),
    [100, 50, 30],
  ],
  ['the delta reports the entire total as cached', input(100), input(0, 100), [100, 100, 0]],
  ['the delta reports part of the total as cached', input(100), input(0, 40), [100, 40, 0]],
  ['the delta splits the total differently', input(60, 0, 40), input(20, 80), [100, 80, 0]],
  ["the start's input count is 0", input(0), input(40, 60), [100, 60, 0]],
  ['all start counts are 0', input(0, 0, 0), input(40), [40, 0, 0]],
  ['the start has no input count', {}, input(40, 60), [100, 60, 0]],
  ['the start reports all tokens as cached', input(0, 100), {}, [100, 100, 0]],
]

for (const [client, send] of Object.entries(clients))
  for (const [label, start, delta, [all, read, write]] of rows)
    test(`input tokens are counted once if ${label} (${client} client)`, async () => {
      const { usage, source } = await getUsage(
        () =>
          providers.claude.stream(
            [
              { ...start, output_tokens: 1 },
              { ...delta, output_tokens: 30 },
            ],
            SAID,
          ),
        send('claude/m', true),
      )
      const { inputTokens, outputTokens, cacheReadTokens = 0, cacheWriteTokens = 0 } = usage ?? {}
      assert.equal([inputTokens, cacheReadTokens, cacheWriteTokens, outputTokens], [all, read, write, 30])
      assert.is(source, 'counted')
    })
