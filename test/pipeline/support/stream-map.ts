import type { Recording } from './recordings.ts'

/** A stream as a plain reader sees it who has all of it before him: nothing here is shared with the gateway. Places are in bytes. */
export interface StreamMap {
  /** Behind the blank line of each event. */
  ends: number[]
  /** Where the first event that says something of the answer is known to be whole. */
  commit: number
  /** What a client can have of the first `length` bytes. */
  said(length: number): Said
}

export interface Said {
  /** The whole events; one that lacks only its blank line has one added. */
  text: string
  /** They give the answer in full. */
  isFinished: boolean
  /** Nothing can follow. */
  isClosed: boolean
}

export function mapStream({ api, bytes, name }: Pick<Recording, 'api' | 'bytes' | 'name'>): StreamMap {
  const oneCharacterAByte = Buffer.from(bytes).toString('latin1')
  const ends = [...oneCharacterAByte.matchAll(/\r\n\r\n|\n\n/g)].map(({ index, 0: blank }) => index + blank.length)
  const events = ends.map((end, at) => dataOf(oneCharacterAByte.slice(ends[at - 1] ?? 0, end)))
  const [commit, finish, close] = [saysSomething, finishes, closes].map((is) => ends[events.findIndex(is[api])])
  const isIn = (place: number | undefined, end: number) => place !== undefined && place <= end
  if (commit === undefined || ends.at(-1) !== bytes.length) throw new Error(`${name} is no whole answer`)

  function said(length: number): Said {
    const whole = ends.findLast((end) => end <= length) ?? 0
    const rest = decode(bytes.subarray(whole, length))
    const isAdded = dataOf(rest) !== undefined
    const end = isAdded ? (ends.find((other) => other > whole) ?? 0) : whole
    return {
      text: decode(bytes.subarray(0, whole)) + (isAdded ? `${rest}\n\n` : ''),
      isFinished: isIn(finish, end) || isIn(close, end),
      isClosed: isIn(close, end),
    }
  }

  const isKnownEarly = oneCharacterAByte.endsWith('\r\n') // a return alone may be a blank line
  return { ends, commit: isKnownEarly ? commit - 1 : commit, said }
}

const decode = (bytes: Uint8Array) => new TextDecoder().decode(bytes)

/** What stands behind `data:`; `undefined` when it is not whole. */
function dataOf(event: string): Data | undefined {
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

/** By format. */
type Sign = Record<Recording['api'], (data: Data | undefined) => boolean | undefined>

/** More than who is speaking and that something is about to come. */
const saysSomething: Sign = {
  chat: (data) =>
    finishes.chat(data) ||
    data?.choices?.some(({ delta: { role: _, ...said } = {} }) =>
      Object.values(said).some((value) => !['null', '""', '[]'].includes(JSON.stringify(value))),
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
