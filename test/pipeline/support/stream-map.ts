import type { Recording } from './recordings.ts'

/** A stream as parsed by a simple reader that has all of it. It shares no code with the gateway. Positions are in bytes. */
export interface StreamMap {
  /** The positions after each event's blank line. */
  ends: number[]
  /** The position at which the first event with content is known to be complete. */
  commit: number
  /** Returns what a client can have received from the first `length` bytes. */
  output(length: number): ModelOutput
}

export interface ModelOutput {
  /** The complete events. If the last event lacks only its blank line, the blank line is added. */
  text: string
  /** Whether the events contain the complete response. */
  isFinished: boolean
  /** Whether nothing can follow the events. */
  isClosed: boolean
}

export function mapStream({ api, bytes, name }: Pick<Recording, 'api' | 'bytes' | 'name'>): StreamMap {
  const oneCharacterAByte = Buffer.from(bytes).toString('latin1')
  const ends = [...oneCharacterAByte.matchAll(/\r\n\r\n|\n\n/g)].map(({ index, 0: blank }) => index + blank.length)
  const events = ends.map((end, index) => getData(oneCharacterAByte.slice(ends[index - 1] ?? 0, end)))
  const [commit, finish, close] = [saysSomething, finishes, closes].map((is) => ends[events.findIndex(is[api])])
  const isIn = (place: number | undefined, end: number) => place !== undefined && place <= end
  if (commit === undefined || ends.at(-1) !== bytes.length) throw new Error(`${name} is no whole answer`)

  function output(length: number): ModelOutput {
    const whole = ends.findLast((end) => end <= length) ?? 0
    const rest = decode(bytes.subarray(whole, length))
    const isAdded = getData(rest) !== undefined
    const end = isAdded ? (ends.find((other) => other > whole) ?? 0) : whole
    return {
      text: decode(bytes.subarray(0, whole)) + (isAdded ? `${rest}\n\n` : ''),
      isFinished: isIn(finish, end) || isIn(close, end),
      isClosed: isIn(close, end),
    }
  }

  const isKnownEarly = oneCharacterAByte.endsWith('\r\n') // a single carriage return may already end the blank line
  return { ends, commit: isKnownEarly ? commit - 1 : commit, output }
}

const decode = (bytes: Uint8Array) => new TextDecoder().decode(bytes)

/** Parses the value of `data:`. Returns `undefined` if it is incomplete. */
function getData(event: string): Data | undefined {
  const data = /^data: ?(.*?)\s*$/m.exec(event)?.[1] ?? ''
  if (data === '[DONE]') return { type: data }
  try {
    return data.endsWith('}') ? JSON.parse(data) : undefined
  } catch {
    return undefined
  }
}

interface Data {
  type?: string
  choices?: Array<{ delta?: Record<string, unknown>; finish_reason?: string | null }>
  content_block?: { type: string }
  delta?: { stop_reason?: string | null }
}

/** An event predicate for each format. */
type Sign = Record<Recording['api'], (data: Data | undefined) => boolean | undefined>

/** Returns whether an event contains actual content, rather than just a role or the start of content. */
const saysSomething: Sign = {
  chat: (data) =>
    finishes.chat(data) ||
    data?.choices?.some(({ delta: { role: _, ...output } = {} }) =>
      Object.values(output).some((value) => !['null', '""', '[]'].includes(JSON.stringify(value))),
    ),
  anthropic: (data) =>
    data?.type === 'content_block_delta' ||
    (data?.content_block !== undefined && !['text', 'thinking'].includes(data.content_block.type)),
}

const finishes: Sign = {
  chat: (data) => data?.choices?.some(({ finish_reason }) => finish_reason),
  anthropic: (data) => data?.type === 'message_delta' && Boolean(data.delta?.stop_reason),
}

const closes: Sign = {
  chat: (data) => data?.type === '[DONE]',
  anthropic: (data) => data?.type === 'message_stop',
}
