import { getEntry } from '../../../../lib/maps.ts'
import type { Kind } from '../../../../types.ts'
import type { ModelListFormat } from '../../model-list.ts'

const writeModel = (id: string, kind: Kind | undefined, version: string) => ({
  id,
  name: id,
  specification: {
    specificationVersion: `v${version}`,
    provider: 'signalbox',
    modelId: id,
  },
  modelType: getEntry(typeByKind, kind ?? 'llm') ?? 'language',
})

const typeByKind: Readonly<Partial<Record<Kind, string>>> = {
  llm: 'language',
  imageToText: 'language',
  embedding: 'embedding',
  image: 'image',
  tts: 'speech',
  stt: 'transcription',
  rerank: 'reranking',
}

/** Writes model lists in the format of `/config`: with model types, and the specification version that clients expect. */
export const aiSdkModels: ModelListFormat = {
  list: (entries, { kinds }) => ({ models: entries.map(({ id }) => writeModel(id, kinds[0], '4')) }),
  one: ({ id }, kinds) => writeModel(id, kinds[0], '4'),
  byKind: (lists, version) => ({
    models: lists.flatMap(({ kind, entries }) => entries.map(({ id }) => writeModel(id, kind, version))),
  }),
}
