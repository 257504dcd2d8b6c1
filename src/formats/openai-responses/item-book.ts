import { isObject, type JsonObject } from '../../lib/json.ts'
import { type ItemReader, kindOf } from './item-reader.ts'

interface KnownItem {
  /** The `type` that such items have. */
  kind: unknown
  reader: ItemReader
  place: unknown
  /** Has its whole been told, so that nothing more is said of it? */
  isDone: boolean
}

/**
 * Knows the items of a stream by their places in the output. Ids change on the way at some providers; at others they stand in for places.
 * Where neither is said, or an id that nothing has announced, an event is about the last such item: one ends before the next begins.
 */
export function createItemBook() {
  const items = new Map<unknown, KnownItem>() // by place
  const places = new Map<unknown, unknown>() // by id, that of the call included
  const lasts = new Map<unknown, KnownItem>() // by kind
  let last: KnownItem | undefined
  const byKind = new Map<unknown, ItemReader[]>() // in their order

  function readerAt(place: unknown, kind: unknown): ItemReader | undefined {
    const known = items.get(place)
    return known?.kind === kind ? known?.reader : undefined
  }

  /** Where the last item of a kind is, if an event whose ids are not known may be about that. */
  function lastPlace(event: JsonObject, kind: unknown): unknown {
    const known = lasts.get(kind)
    return !known || known.isDone || known.reader.isPast?.(event) ? undefined : known.place
  }

  return {
    isEmpty: () => items.size === 0,

    /** The place of the item that an event is about. */
    placeOf(type: string, event: JsonObject): unknown {
      const { output_index: said } = event
      const item = isObject(event.item) ? event.item : undefined
      if (!item && said !== undefined) return said
      const isNew = type === 'response.output_item.added' // a call id may come again
      const ids = [event.item_id, item?.id, item?.call_id].filter(Boolean)
      const known = places.get(isNew ? ids[0] : ids.find((id) => places.has(id)))
      const place =
        said ?? known ?? (isNew || ids.length === 0 ? undefined : lastPlace(event, kindOf(type, item))) ?? ids[0]
      for (const id of ids) places.set(id, place)
      return place
    },

    /** Nothing more is said of the item there. */
    done(place: unknown) {
      const known = items.get(place)
      if (known) known.isDone = true
    },

    at: (place: unknown): ItemReader | undefined => items.get(place)?.reader,

    /** The last item, if an event of this kind that names none is about it; parts are of several kinds. */
    unnamed(type: string, kind: unknown): ItemReader | undefined {
      if (type === 'response.output_item.added') return undefined
      return kind === last?.kind || type.startsWith('response.content_part.') ? last?.reader : undefined
    },

    add(place: unknown, kind: unknown, reader: ItemReader) {
      items.get(place)?.reader.end()
      last = { kind, reader, place, isDone: false }
      lasts.set(kind, last)
      items.set(place, last)
      const others = byKind.get(kind)
      if (others) others.push(reader)
      else byKind.set(kind, [reader])
    },

    /**
     * The items of the whole output with their readers; new ones have none. Where as many of a kind are known, they are the same ones in the
     * same order, whatever their places; otherwise ids and places tell which are known, and none is new where more are known.
     */
    pair(output: readonly JsonObject[]): { item: JsonObject; reader?: ItemReader }[] {
      const totals = countBy(output)
      const seen = new Map<unknown, number>()
      return output.flatMap((item, index) => {
        const { type: kind } = item
        const nth = seen.get(kind) ?? 0
        seen.set(kind, nth + 1)
        const readers = byKind.get(kind) ?? []
        const total = totals.get(kind) ?? 0
        const reader = readers.length === total ? readers[nth] : readerAt(places.get(idOf(item)) ?? index, kind)
        if (reader) return { item, reader }
        return readers.length < total ? { item } : []
      })
    },

    end() {
      for (const { reader } of items.values()) reader.end()
    },
  }
}

const idOf = (item: JsonObject | undefined): unknown => item?.id || item?.call_id || undefined

function countBy(output: readonly JsonObject[]): Map<unknown, number> {
  const counts = new Map<unknown, number>()
  for (const { type } of output) counts.set(type, (counts.get(type) ?? 0) + 1)
  return counts
}
