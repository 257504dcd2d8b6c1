import { assert, suite } from '../support/suite.ts'
import { askRaw, cutAt, getChunks, rawUpstream } from './support/raw.ts'
import { type Recording, recordedStreams } from './support/recordings.ts'
import { openWorld } from './support/world.ts'

const test = suite('recorded streams')

/** Passes each recording through the gateway in the chunks that `cut` creates. */
async function passAll(recordings: readonly Recording[], cut: (bytes: Uint8Array) => Iterable<Uint8Array>) {
  let current: Recording | undefined
  const fetch = rawUpstream(() => getChunks(cut(current?.bytes ?? new Uint8Array(0))))
  const world = await openWorld({ fetch })
  for (const recording of recordings) {
    current = recording
    const { text } = await send(world, recording)
    assert.is(text, recording.sse, recording.name)
  }
  return world
}

const send = (world: Awaited<ReturnType<typeof openWorld>>, { api }: Pick<Recording, 'api'>) =>
  api === 'chat'
    ? askRaw(world.gateway, '/v1/chat/completions', { model: 'one/m', stream: true })
    : askRaw(world.gateway, '/v1/messages', { model: 'claude/c', stream: true })

test('recorded streams pass through byte for byte in a single chunk', async () => {
  const world = await passAll(recordedStreams(), (bytes) => [bytes])
  const failed = world.recorded.requests.filter(({ status }) => status !== 200)
  assert.equal(
    failed.map(({ status }) => status),
    [400],
    'only the recording with a mid-stream provider error',
  )
})

test('recorded streams pass through byte for byte when split at random points', async () => {
  const random = seeded(7)
  await passAll(recordedStreams(), (bytes) =>
    cutAt(
      bytes,
      Array.from({ length: 20 }, () => Math.floor(random() * bytes.length)).sort((a, b) => a - b),
    ),
  )
})

test('recorded streams pass through byte for byte if each byte arrives separately', async () => {
  const short = recordedStreams().filter(({ bytes }) => bytes.length < 3_000)
  assert.ok(short.length > 20)
  await passAll(short, (bytes) =>
    cutAt(
      bytes,
      bytes.map((_, index) => index),
    ),
  )
})

test("the usage of recorded streams matches the vendor client's, or the sum of its iterations", async () => {
  const recordings = recordedStreams().filter(({ read }) => read.ok && read.usage)
  const world = await passAll(recordings, (bytes) => cutAt(bytes, [500, 1_000, bytes.length - 700]))
  assert.ok(recordings.length > 60)
  recordings.forEach(({ name, api, sse, read: { usage } }, index) => {
    const { inputTokens, outputTokens } = world.recorded.usages[index] ?? {}
    const n = (field: string) => Number(usage?.[field] ?? 0)
    if (api === 'chat') assert.equal([inputTokens, outputTokens], [n('prompt_tokens'), n('completion_tokens')], name)
    else {
      const sum = (fields: readonly string[]) =>
        (findRuns(sse) ?? [usage ?? {}]).reduce(
          (all, run) => fields.reduce((value, at) => value + Number(run[at] ?? 0), all),
          0,
        )
      const input = sum(['input_tokens', 'cache_read_input_tokens', 'cache_creation_input_tokens'])
      assert.equal([inputTokens, outputTokens], [input, sum(['output_tokens'])], name)
    }
  })
})

/** Returns the last `usage.iterations` in a stream, if there are any. */
function findRuns(sse: string): Array<Record<string, unknown>> | undefined {
  const found = [...sse.matchAll(/"iterations":\s*(\[\{.*?\}\])\s*[,}]/g)].at(-1)?.[1]
  return found && JSON.parse(found)
}

/** Yields the same numbers in every run. */
function seeded(seed: number) {
  let state = seed
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31
    return state / 2 ** 31
  }
}
