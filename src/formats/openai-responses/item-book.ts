import type { JsonObject } from '../../lib/json.ts'
import type { ItemReader } from './item-reader.ts'

interface KnownItem {
  /** The `type` that such items have. */
  kind: unknown
  reader: ItemReader
}

/**
 * Knows the items of a stream by their places in the output. Ids change on the way at some providers; at others they stand in for places, and
 * where neither is said, an event is about the last such item.
 */
export function createItemBook() {
  const items = new Map<unknown, KnownItem>() // by place
  const places = new Map<unknown, unknown>() // by id
  let last: KnownItem | undefined
  const byKind = new Map<unknown, ItemReader[]>() // in their order

  function readerAt(place: unknown, kind: unknown): ItemReader | undefined {
    const known = items.get(place)
    return known?.kind === kind ? known?.reader : undefined
  }

  return {
    isEmpty: () => items.size === 0,

    /** The place of the item that an event is about. */
    placeOf(event: JsonObject, item?: JsonObject): unknown {
      const { output_index: said } = event
      if (!item && said !== undefined) return said
      const id = event.item_id || idOf(item)
      const place = said ?? places.get(id) ?? id
      if (item && id !== undefined) places.set(id, place)
      return place
    },

    at: (place: unknown): ItemReader | undefined => items.get(place)?.reader,

    /** The last item, if an event of this kind that names none is about it; parts are of several kinds. */
    unnamed(type: string, kind: unknown): ItemReader | undefined {
      if (type === 'response.output_item.added') return undefined
      return kind === last?.kind || type.startsWith('response.content_part.') ? last?.reader : undefined
    },

    add(place: unknown, kind: unknown, reader: ItemReader) {
      items.get(place)?.reader.end()
      last = { kind, reader }
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
