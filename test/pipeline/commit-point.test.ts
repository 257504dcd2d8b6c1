import { isCi, times } from '../support/ci.ts'
import { assert, suite } from '../support/suite.ts'
import { type Break, brokenBody } from './support/broken.ts'
import { chains, idleTimeoutMs, kinds } from './support/chain.ts'
import { cutAt } from './support/raw.ts'
import { type Recording, recordedStreams } from './support/recordings.ts'
import { chatEvents, messageEvents } from './support/responses.ts'
import { mapStream } from './support/stream-map.ts'

const test = suite('the commit point')

/** Tests every byte in CI, and every third byte locally. */
const STEP = isCi ? 1 : 3
const everyByte = isCi ? 'every byte' : 'every third byte'

interface Received {
  spare: number
  error: number
  clean: number
}

/**
 * Breaks a stream after each of its bytes. Before the first content, the next target's complete response must follow. After that, the client must get
 * every complete event and then an error. Only a complete response may end normally.
 */
async function breakEverywhere(recording: Recording, mode: Break, step = STEP): Promise<Received> {
  const { api, bytes, name } = recording
  const { error, spare } = kinds[api]
  const { commit, output } = mapStream(recording)
  const send = await chains[api]()
  const received: Received = { spare: 0, error: 0, clean: 0 }
  for (let cut = 0; cut <= bytes.length; cut += step) {
    const location = `${name}: ${mode} behind byte ${cut}`
    const places = [[], [Math.floor(cut / 2)], [cut - 1]][(cut / step) % 3] ?? []
    const { text, calls, record } = await send(() => brokenBody(cutAt(bytes.subarray(0, cut), places), mode), location)
    if (mode === 'stall') assert.is(record?.durationMs, idleTimeoutMs, location)
    if (cut < commit) {
      assert.is(text, spare, location)
      assert.is(calls, 2, location)
      received.spare++
      continue
    }
    const { text: full, isFinished, isClosed } = output(cut)
    assert.is(calls, 1, `${location}: no second attempt`)
    assert.is(text.slice(0, full.length), full, location)
    const isComplete = mode === 'end' ? isFinished : isClosed
    if (isComplete) assert.is(text, full, location)
    else assert.match(text.slice(full.length), error, `${location}: no normal end`)
    assert.is(record?.status, isComplete ? 200 : mode === 'stall' ? 504 : 502, location)
    received[isComplete ? 'clean' : 'error']++
  }
  if (step === 1) assert.is(received.spare, commit, name)
  return received
}

/** Inserts a provider error between any two events, and continues in every way. */
async function failEverywhere(recording: Recording): Promise<Received> {
  const { api, bytes, name } = recording
  const { overloaded, spare } = kinds[api]
  const { ends, commit, output } = mapStream(recording)
  const send = await chains[api]()
  const seen: Received = { spare: 0, error: 0, clean: 0 }
  for (const index of [0, ...ends]) {
    const { isFinished } = output(index)
    const before = bytes.subarray(0, index)
    for (const [way, mode, rest] of [
      ['ends', 'end', ''],
      ['is reset', 'reset', ''],
      ['stalls', 'stall', ''],
      ['continues', 'end', decode(bytes.subarray(index))],
    ] as const) {
      const all = decode(before) + overloaded + rest
      for (const pieces of [[encode(all)], [before, encode(overloaded), encode(rest)]]) {
        const location = `${name}: an error at ${index} in ${pieces.length}, then it ${way}`
        const chunks = pieces.filter(({ length }) => length > 0)
        const { text, calls, record } = await send(() => brokenBody(chunks, mode), location)
        const received = isFinished ? all : decode(before) + overloaded // the complete events before the error are passed through unchanged
        assert.is(text, index < commit ? spare : received, location)
        assert.is(calls, index < commit ? 2 : 1, location)
        if (index < commit) assert.is(record?.durationMs, 0, `${location}: falls back without waiting`)
        seen[index < commit ? 'spare' : 'error']++
        if (index >= commit && !(isFinished && way === 'continues'))
          assert.is(record?.status, api === 'chat' ? 503 : 529, location)
      }
    }
  }
  return seen
}

const encode = (text: string) => new TextEncoder().encode(text)
const decode = (bytes: Uint8Array) => new TextDecoder().decode(bytes)

function add(sum: Received, { spare, error, clean }: Received) {
  sum.spare += spare
  sum.error += error
  sum.clean += clean
}

const createTotals = (): Received => ({ spare: 0, error: 0, clean: 0 })

function createRecording(api: Recording['api'], lineEnd = '\n'): Recording {
  const events = api === 'chat' ? chatEvents('größer 😀') : messageEvents('größer 😀')
  const sse = events.join('').replaceAll('\n', lineEnd)
  return {
    name: `synthetic, with ${JSON.stringify(lineEnd)} line endings`,
    api,
    sse,
    bytes: encode(sse),
    read: { ok: true },
  }
}

const ways = ['reset', 'end', 'stall'] as const

for (const api of ['chat', 'anthropic'] as const) {
  for (const mode of ways) {
    test(`a failing stream falls back before content, and otherwise ends with an error: ${mode} after ${everyByte} (${api})`, async () => {
      const received = await breakEverywhere(createRecording(api), mode)
      assert.ok(
        received.spare > 300 / STEP && received.error > 250 / STEP && received.clean > 2 / STEP,
        JSON.stringify(received),
      )
    })

    test(`a failing recording falls back before content, and otherwise ends with an error: ${mode} after ${everyByte} (${api})`, async () => {
      const recordings = recordedStreams().filter(({ api: its, bytes }) => its === api && bytes.length > 1_030)
      const recording = recordings[ways.indexOf(mode)] // a different recording for each mode
      if (!recording) throw new Error('there are too few recordings')
      const received = await breakEverywhere(recording, mode)
      assert.is(received.spare + received.error + received.clean, Math.floor(recording.bytes.length / STEP) + 1)
      assert.ok(
        received.spare > 200 / STEP && received.error > 200 / STEP && received.clean > 2 / STEP,
        JSON.stringify(received),
      )
    })
  }

  test(`a stream with CRLF line endings that ends after ${everyByte} falls back or ends with an error (${api})`, async () => {
    const received = await breakEverywhere(createRecording(api, '\r\n'), 'end')
    assert.ok(
      received.spare > 300 / STEP && received.error > 250 / STEP && received.clean > 2 / STEP,
      JSON.stringify(received),
    )
  })

  test(`a recording that fails at a sampled point falls back or ends with an error (${api})`, async () => {
    const recordings = recordedStreams().filter(({ api: its, read }) => its === api && read.ok)
    const received = createTotals()
    for (const [index, recording] of recordings.entries()) {
      const mode = ways[index % ways.length] ?? 'end'
      add(received, await breakEverywhere(recording, mode, Math.ceil(recording.bytes.length / (isCi ? 9 : 4))))
    }
    assert.ok(
      recordings.length >= 29 && received.spare > times(50) && received.error > times(150),
      JSON.stringify(received),
    )
  })

  test(`a provider error between any two events falls back or ends the stream with an error (${api})`, async () => {
    const received = await failEverywhere(createRecording(api))
    assert.ok(received.spare >= 16 && received.error >= 32, JSON.stringify(received))
  })

  test(`a provider error between any two recorded events falls back or ends the stream with an error (${api})`, async () => {
    const received = createTotals()
    for (const recording of recordedStreams()
      .filter(({ api: its, read }) => its === api && read.ok)
      .slice(4, 9))
      add(received, await failEverywhere(recording))
    assert.ok(received.spare > 50 && received.error > 150, JSON.stringify(received))
  })
}
