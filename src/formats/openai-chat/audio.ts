import type { JsonObject } from '../../lib/json.ts'
import { base64Source } from '../canonical/data-url.ts'
import { defined } from '../canonical/defined.ts'
import type { Losses } from '../canonical/losses.ts'
import type { AudioPart } from '../canonical/parts.ts'
import type { WireReply } from './wire.ts'

/** `audio` of a message. */
export function audioPart({ id, data, transcript, expires_at }: JsonObject, losses: Losses): AudioPart | undefined {
  if (typeof data !== 'string' || data === '') {
    if (transcript) losses.dropped('audio') // Snowflake: an empty one with every answer
    return undefined
  }
  return defined<AudioPart>({
    type: 'audio',
    source: base64Source('audio/wav', data),
    id: typeof id === 'string' ? id : undefined,
    transcript: typeof transcript === 'string' ? transcript : undefined,
    expiresAt: typeof expires_at === 'number' ? expires_at : undefined,
  })
}

/** What the model said aloud, for a client. */
export function wireAudio(
  { source, id = '', transcript = '', expiresAt = 0 }: AudioPart,
  losses: Losses,
): WireReply['audio'] {
  if (source.type === 'base64') return { id, data: source.data, expires_at: expiresAt, transcript }
  losses.dropped('audio')
  return undefined
}
