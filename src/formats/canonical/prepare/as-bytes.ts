import type { InputKind, Traits } from '../../../traits.ts'
import { isAtYouTube } from '../at-google.ts'
import type { MediaSource } from '../media.ts'
import type { AudioPart, FilePart, ImagePart, Part, VideoPart } from '../parts.ts'
import type { Turn } from '../turns.ts'

/** An image, a document, a sound or a video that the client names by its address. */
export type AddressedPart = (ImagePart | FilePart | AudioPart | VideoPart) & { source: MediaSource & { type: 'url' } }

/** The parts of a request that a target takes as bytes and not by their address, wherever they would come to stand. */
export function partsAsBytes(turns: readonly Turn[], traits: Traits): AddressedPart[] {
  const { inputs, toolResultInputs } = traits
  return turns.flatMap((turn): AddressedPart[] => {
    if (turn.role === 'system') return []
    if (turn.role !== 'tool') {
      const parts: readonly Part[] = turn.content // of a model its pictures
      return parts.filter(isAddressed).filter((part) => wantsBytes(part, inputs))
    }
    const inResults = turn.results.flatMap(({ content }) => content.filter(isAddressed))
    return inResults.filter((part) => {
      const isTaken = takesAddress(part, inputs) || takesAddress(part, toolResultInputs)
      return !isTaken && (inputs.includes(part.type) || toolResultInputs.includes(part.type))
    })
  })
}

/** The same turns with other sources for some of their parts. */
export function withSources(turns: readonly Turn[], sources: ReadonlyMap<object, MediaSource>): Turn[] {
  const replaced = <P extends object>(part: P): P => {
    const source = sources.get(part)
    return source ? { ...part, source } : part
  }
  return turns.map((turn): Turn => {
    if (turn.role === 'user') return { ...turn, content: turn.content.map(replaced) }
    if (turn.role === 'assistant') return { ...turn, content: turn.content.map(replaced) }
    if (turn.role !== 'tool') return turn
    return {
      ...turn,
      results: turn.results.map((result) => ({ ...result, content: result.content.map(replaced) })),
    }
  })
}

/** A page of YouTube is no video, and what no address of the web is stays as it is. */
function isAddressed(part: Part): part is AddressedPart {
  if (!('source' in part) || typeof part.source === 'string' || part.source.type !== 'url') return false
  return /^https?:/i.test(part.source.url) && !isAtYouTube(part.source.url)
}

const wantsBytes = (part: AddressedPart, taken: readonly InputKind[]) =>
  taken.includes(part.type) && !takesAddress(part, taken)

const takesAddress = ({ type }: AddressedPart, taken: readonly InputKind[]) =>
  taken.includes(type) && taken.includes(`${type}-url`)
