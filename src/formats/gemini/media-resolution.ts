import { entryOf } from '../../lib/entry-of.ts'
import type { Fields } from '../canonical/fields.ts'
import type { ImagePart } from '../canonical/parts.ts'
import type { Turn } from '../canonical/turns.ts'
import type { Warnings } from '../canonical/warnings.ts'
import type { WireResolution } from './wire.ts'

type Detail = NonNullable<ImagePart['detail']>

/** How closely the images of a request are looked at: one resolution for all media, or one on a part. */
export function detailOf(resolution: string | undefined): Detail | undefined {
  return resolution === undefined ? undefined : entryOf(details, resolution)
}

/** A part says it in an object. */
export const partDetail = (part: Fields): Detail | undefined => detailOf(part.fields('mediaResolution')?.text('level'))

/** The one resolution that all images which ask for any agree on. Not every model takes it on a part. */
export function resolutionOf(turns: readonly Turn[], warnings: Warnings): WireResolution | undefined {
  const asked = new Set<Detail>()
  for (const turn of turns) {
    if (turn.role !== 'user') continue
    for (const part of turn.content)
      if (part.type === 'image' && part.detail && part.detail !== 'auto') asked.add(part.detail)
  }
  const [detail, ...others] = asked
  if (detail === undefined) return undefined
  if (others.length === 0) return resolutions[detail]
  warnings.dropped('detail')
  return undefined
}

const details: Readonly<Record<string, Detail>> = {
  MEDIA_RESOLUTION_LOW: 'low',
  MEDIA_RESOLUTION_HIGH: 'high',
  MEDIA_RESOLUTION_ULTRA_HIGH: 'original',
}

const resolutions: Readonly<Record<Detail, WireResolution | undefined>> = {
  auto: undefined,
  low: 'MEDIA_RESOLUTION_LOW',
  high: 'MEDIA_RESOLUTION_HIGH',
  original: 'MEDIA_RESOLUTION_HIGH',
}
