import * as v from 'valibot'
import { kinds, providerFormats, strategies, wireFormats } from '../types/unions.ts'
import { choiceOf } from './input.ts'
import type { OperationEntries } from './operation-table.ts'
import { allOptional, named, number, text, whole } from './output-schemas.ts'
import { price } from './price-schema.ts'
import { type ProviderOperations, providerInputs } from './providers.ts'

const kind = choiceOf(kinds)
const format = choiceOf(providerFormats)
const modelList = v.object({ models: v.array(v.object({ id: text })) })
const service = v.object(allOptional({ baseUrl: text, keyHeader: text, price }))

const model = v.object({
  id: text,
  ...allOptional({ type: kind, contextWindow: number, maxOutputTokens: number, price }),
})

const provider = named(
  'Provider',
  v.object({
    id: text,
    ...allOptional({
      alias: text,
      catalogAlias: text,
      name: text,
      docsUrl: text,
      baseUrl: text,
      format,
      formats: v.record(text, format),
      alsoSpeaks: v.array(choiceOf(wireFormats)),
      auth: v.picklist(['bearer', 'x-api-key', 'x-goog-api-key', 'api-key']),
      cloud: v.picklist(['azure', 'bedrock', 'vertex']),
      serviceKinds: v.array(kind),
      models: v.array(model),
      ttsConfig: modelList,
      embeddingConfig: modelList,
      searchConfig: service,
      fetchConfig: service,
      strategy: choiceOf(strategies),
      stickyLimit: whole,
    }),
  }),
)

export const providerTable = {
  list: {
    method: 'GET',
    path: '/api/providers',
    failure: 'fetch providers',
    output: v.object({ providers: v.array(provider) }),
    summary: 'List the providers',
    description: 'Providers in the catalog, and providers with their own strategy.',
  },
  get: {
    method: 'GET',
    path: '/api/providers/:id',
    failure: 'fetch provider',
    hasRevision: true,
    output: provider,
    summary: 'Get a provider',
  },
  update: {
    method: 'PUT',
    path: '/api/providers/:id',
    failure: 'update provider',
    ifMatch: true,
    input: providerInputs.update,
    output: provider,
    summary: "Set a provider's connection strategy",
  },
} satisfies OperationEntries<ProviderOperations>
