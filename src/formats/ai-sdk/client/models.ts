import { entryOf } from '../../../lib/maps.ts'
import type { Kind } from '../../../types.ts'
import type { ModelListFormat } from '../../model-list.ts'

const model = (id: string, kind: Kind | undefined, version: string) => ({
  id,
  name: id,
  specification: {
    specificationVersion: `v${version}`,
    provider: 'signalbox',
    modelId: id,
  },
  modelType: entryOf(typeByKind, kind ?? 'llm') ?? 'language',
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

/** The models in the form of `/config`: with their types, and the version of the specification that its clients expect. */
export const aiSdkModels: ModelListFormat = {
  list: (entries, { kinds }) => ({ models: entries.map(({ id }) => model(id, kinds[0], '4')) }),
  one: ({ id }, kinds) => model(id, kinds[0], '4'),
  byKind: (lists, version) => ({
    models: lists.flatMap(({ kind, entries }) => entries.map(({ id }) => model(id, kind, version))),
  }),
}
