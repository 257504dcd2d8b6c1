import type { Catalog, Kind, ModelEntry } from '../../src/types.ts'
import type { World } from './world.ts'

/*
 * The listing rules, transcribed from the specification sentence by sentence, as slow and simple as possible. Shares no code with the implementation.
 * `upstream` returns the response to a GET request: a JSON value, or `undefined` for any failure.
 */

type Upstream = (url: string) => unknown

export function referenceListing(world: World, K: readonly Kind[], created: number, upstream: Upstream): ModelEntry[] {
  const catalog: Catalog = world.catalog ?? {}
  const combos = world.combos ?? []
  const customModels = world.customModels ?? []
  const aliasValues = world.aliases ?? []
  const output: ModelEntry[] = []

  function emit(id: string, ownedBy: string, kind?: 'webSearch' | 'webFetch') {
    for (const earlier of output) if (earlier.id === id) return // 5. The first wins and order is kept
    const entry: ModelEntry = { id, object: 'model', created, owned_by: ownedBy }
    if (kind !== undefined) entry.kind = kind
    output.push(entry)
  }

  // 1. Connections with isActive: false are dropped; the others by priority (lower first, absent last), then by age
  const connections: NonNullable<World['connections']> = []
  for (const connection of world.connections ?? []) if (connection.isActive !== false) connections.push(connection)
  for (let pass = 0; pass < connections.length; pass++) {
    for (let i = 0; i + 1 < connections.length; i++) {
      const left = connections[i]
      const right = connections[i + 1]
      if (!left || !right) continue
      const l = left.priority === undefined ? 1e9 : left.priority
      const r = right.priority === undefined ? 1e9 : right.priority
      const lAge = Date.parse(left.createdAt ?? '1970-01-01T00:00:00Z')
      const rAge = Date.parse(right.createdAt ?? '1970-01-01T00:00:00Z')
      if (l > r || (l === r && lAge > rAge)) {
        connections[i] = right
        connections[i + 1] = left
      }
    }
  }

  // 2. Combos come first
  for (const combo of combos) {
    const kind = combo.kind === undefined ? 'llm' : combo.kind
    if (K.indexOf(kind) < 0) continue
    if (kind === 'webSearch') emit(combo.name, 'combo', 'webSearch')
    else if (kind === 'webFetch') emit(combo.name, 'combo', 'webFetch')
    else emit(combo.name, 'combo')
  }

  const getProvider = (id: string) => {
    for (const [key, definition] of Object.entries(catalog)) if (key === id) return definition
    return undefined
  }
  const intersectsK = (serviceKinds: readonly Kind[] | undefined) => {
    for (const kind of serviceKinds === undefined ? ['llm'] : serviceKinds)
      for (const k of K) if (k === kind) return true
    return false
  }

  // 3. Static path
  if (connections.length === 0) {
    for (const [id, definition] of Object.entries(catalog)) {
      let alias = id
      if (definition.alias !== undefined) alias = definition.alias
      if (definition.catalogAlias !== undefined) alias = definition.catalogAlias
      if (!intersectsK(definition.serviceKinds)) continue
      for (const model of definition.models === undefined ? [] : definition.models) {
        if (K.indexOf(model.type === undefined ? 'llm' : model.type) >= 0) emit(`${alias}/${model.id}`, alias)
      }
    }
    for (const model of customModels) {
      if (K.indexOf('llm') < 0) continue
      if (!model.providerAlias || !model.id || /^\s*$/.test(model.id)) continue
      if (model.type !== undefined && model.type !== null && model.type !== 'llm') continue
      emit(`${model.providerAlias}/${model.id.trim()}`, model.providerAlias)
    }
    return output
  }

  // 4. Connection path, for the first active connection of each provider
  const seenProviders: string[] = []
  for (const connection of connections) {
    if (seenProviders.indexOf(connection.provider) >= 0) continue
    seenProviders.push(connection.provider)
    const definition = getProvider(connection.provider)
    if (!intersectsK(definition?.serviceKinds)) continue

    const providerId = connection.provider
    let catalogAlias = providerId
    if (definition?.alias !== undefined) catalogAlias = definition.alias
    if (definition?.catalogAlias !== undefined) catalogAlias = definition.catalogAlias
    let outputAlias = catalogAlias
    if (definition?.alias !== undefined) outputAlias = definition.alias
    const prefix = connection.providerSpecificData?.prefix
    if (prefix !== undefined && !/^\s*$/.test(prefix)) outputAlias = prefix
    outputAlias = outputAlias.trim()

    const threeNames = [outputAlias, catalogAlias, providerId]
    const withoutName = (id: string) => {
      for (const name of threeNames) if (id.indexOf(`${name}/`) === 0) return id.substring(name.length + 1)
      return id
    }

    const catalogModels = definition?.models === undefined ? [] : definition.models
    let base: string[] = []
    const enabled: unknown = connection.providerSpecificData?.enabledModels
    if (Array.isArray(enabled) && enabled.length > 0) {
      for (const id of enabled) {
        if (typeof id !== 'string' || /^\s*$/.test(id)) continue
        if (base.indexOf(id) < 0) base.push(id)
      }
    } else {
      for (const model of catalogModels) base.push(model.id)
    }

    const bearer = providerId.indexOf('openai-compatible') === 0
    const messages = providerId.indexOf('anthropic-compatible') === 0
    if ((bearer || messages) && base.length === 0 && !endsWithHex(providerId)) {
      base = fetchIds(connection, messages)
    }

    let merged: string[] = []
    for (const id of base) merged.push(withoutName(id))
    for (const model of customModels) {
      if (model.type !== undefined && model.type !== null && model.type !== 'llm') continue
      if (!model.providerAlias || !model.id) continue
      if (threeNames.indexOf(model.providerAlias) >= 0) merged.push(model.id.trim())
    }
    for (const value of aliasValues) {
      for (const name of threeNames) {
        if (value.indexOf(`${name}/`) !== 0) continue
        merged.push(value.substring(name.length + 1))
        break
      }
    }
    merged = merged.filter((id, index) => !/^\s*$/.test(id) && merged.indexOf(id) === index)

    for (const id of merged) {
      let kind: string | undefined
      for (const model of catalogModels) if (kind === undefined && model.id === id) kind = model.type ?? 'llm'
      for (const model of catalogModels)
        if (kind === undefined && withoutName(model.id) === id) kind = model.type ?? 'llm'
      for (const model of catalogModels) {
        if (kind === undefined && withoutName(model.id) === withoutName(id)) kind = model.type ?? 'llm'
      }
      if (kind === undefined) {
        const text = id.toLowerCase()
        if (/embed/.test(text)) kind = 'embedding'
        else if (/tts|speech|audio|voice/.test(text)) kind = 'tts'
        else if (/image|imagen|dall-e|dalle|flux|sdxl|sd-|stable-diffusion/.test(text)) kind = 'image'
        else kind = 'llm'
      }
      for (const k of K) if (k === kind) emit(`${outputAlias}/${id}`, outputAlias)
    }
    if (K.indexOf('tts') >= 0 && definition?.ttsConfig) {
      for (const voice of definition.ttsConfig.models) emit(`${outputAlias}/${voice.id}`, outputAlias)
    }
    if (K.indexOf('embedding') >= 0 && definition?.embeddingConfig) {
      for (const model of definition.embeddingConfig.models) emit(`${outputAlias}/${model.id}`, outputAlias)
    }
    if (K.indexOf('webSearch') >= 0 && definition?.searchConfig) emit(`${outputAlias}/search`, outputAlias, 'webSearch')
    if (K.indexOf('webFetch') >= 0 && definition?.fetchConfig) emit(`${outputAlias}/fetch`, outputAlias, 'webFetch')
  }
  return output

  // Upstream model fetch for compatible providers
  function fetchIds(connection: NonNullable<World['connections']>[number], messages: boolean): string[] {
    const address: unknown = connection.providerSpecificData?.baseUrl
    if (!connection.apiKey || typeof address !== 'string' || /^\s*$/.test(address)) return []
    let url = address.trim()
    if (url.charAt(url.length - 1) === '/') url = url.substring(0, url.length - 1)
    url = `${url}/models`
    if (messages && url.endsWith('/messages/models')) url = `${url.substring(0, url.length - 16)}/models`
    if (messages && url.endsWith('/messages')) url = `${url.substring(0, url.length - 9)}/models`
    const response = upstream(url) as Record<string, unknown> | unknown[] | null | undefined // JSON
    let list: unknown
    if (Array.isArray(response)) list = response
    else if (response && typeof response === 'object') {
      if (Array.isArray(response.data)) list = response.data
      else if (Array.isArray(response.models)) list = response.models
      else if (Array.isArray(response.results)) list = response.results
    }
    const found: string[] = []
    for (const element of Array.isArray(list) ? list : []) {
      if (element === null || typeof element !== 'object') continue
      for (const candidate of [element.id, element.name, element.model]) {
        if (typeof candidate !== 'string' || /^\s*$/.test(candidate)) continue
        if (found.indexOf(candidate) < 0) found.push(candidate)
        break
      }
    }
    return found
  }
}

/** Ends with `-` or `_` followed by 8 or more hex digits. */
function endsWithHex(id: string): boolean {
  let digits = 0
  let index = id.length - 1
  while (index >= 0 && '0123456789abcdefABCDEF'.indexOf(id.charAt(index)) >= 0) {
    digits++
    index--
  }
  return digits >= 8 && index >= 0 && (id.charAt(index) === '-' || id.charAt(index) === '_')
}
