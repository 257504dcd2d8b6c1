import type { Citation } from '../canonical/citations.ts'
import { defined } from '../canonical/defined.ts'
import { type Offsets, offsetsOf } from './utf8-offsets.ts'
import type { WireChunk, WireGrounding, WireSource, WireSupport } from './wire.ts'

/** A text part of an answer and its place among the parts. */
export interface CitingText {
  text: string
  citations: readonly Citation[]
  partIndex: number
}

/** The sources of an answer for a client; undefined when there are none. */
export function writeGrounding(texts: readonly CitingText[], queries: readonly string[]): WireGrounding | undefined {
  const chunks = new Map<string, WireChunk>()
  const supports: WireSupport[] = []
  for (const { text, citations, partIndex } of texts) {
    if (citations.length === 0) continue
    const offsets = offsetsOf(text)
    for (const citation of citations) {
      const chunk = writeSource(citation)
      const id = JSON.stringify(chunk)
      chunks.set(id, chunk)
      const index = [...chunks.keys()].indexOf(id)
      supports.push({ ...writeSegment(citation, { text, offsets, partIndex }), groundingChunkIndices: [index] })
    }
  }
  if (chunks.size === 0 && queries.length === 0) return undefined
  return defined<WireGrounding>({
    groundingChunks: chunks.size > 0 ? [...chunks.values()] : undefined,
    groundingSupports: supports.length > 0 ? supports : undefined,
    webSearchQueries: queries.length > 0 ? [...queries] : undefined,
  })
}

/** A page, which is where clients look for addresses; words that are known of it have their place only in a text that was retrieved. */
function writeSource({ url, title, quote }: Citation): WireChunk {
  const retrieved = defined<WireSource>({ uri: url, title, text: quote })
  if (url === undefined) return { retrievedContext: retrieved }
  const web = defined<WireSource>({ uri: url, title })
  return quote ? { web, retrievedContext: retrieved } : { web }
}

function writeSegment(
  { start, end }: Citation,
  { text, offsets, partIndex }: { text: string; offsets: Offsets; partIndex: number },
): Pick<WireSupport, 'segment'> {
  const at = partIndex > 0 ? { partIndex } : {}
  if (start === undefined || end === undefined || text === '') return partIndex > 0 ? { segment: at } : {}
  return {
    segment: {
      ...at,
      startIndex: offsets.bytesAt(start),
      endIndex: offsets.bytesAt(end),
      text: text.slice(start, end),
    },
  }
}
