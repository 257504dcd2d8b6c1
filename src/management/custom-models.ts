import * as v from 'valibot'
import { customModelId, type Store } from '../store/store.ts'
import type { CustomModel } from '../types.ts'
import { fields } from './fields.ts'
import { findRecord, present } from './find.ts'
import { closed, invalidInput, parseInput } from './input.ts'
import { isSameJson } from './same-json.ts'

/**
 * Models that the catalog does not have. `Input` is accepted besides the typed input: nothing in process, `unknown` for bodies over HTTP.
 */
export interface CustomModelOperations<Input = never> {
  list(): Promise<{ models: CustomModel[] }>
  /** Rejects with `INVALID_REQUEST` when the model exists; to change its type, delete it first. */
  create(input: CustomModel | Input): Promise<CustomModel>
  /** Creates the model, or changes its type if one is given. Writes nothing when nothing would change. */
  put(input: CustomModel | Input): Promise<CustomModel>
  delete(providerAlias: string, id: string): Promise<{ success: true }>
}

const newModel = closed({
  id: fields.modelInPath,
  type: v.exactOptional(fields.kind),
  providerAlias: fields.nameInPath,
})

export function createCustomModelOperations({
  store: { customModels },
}: {
  store: Store
}): CustomModelOperations<unknown> {
  return {
    list: async () => ({ models: (await customModels.all()).map((model) => ({ ...model })) }),

    async create(input) {
      const model = parseInput(newModel, input)
      if (!(await customModels.insert(customModelId(model), model))) {
        throw invalidInput(`The custom model "${model.providerAlias}/${model.id}" already exists`)
      }
      return model
    },

    async put(input) {
      const model = parseInput(newModel, input)
      const id = customModelId(model)
      const stored = await customModels.get(id)
      const next = { ...stored, ...model }
      if (!stored || !isSameJson(stored, next)) await customModels.upsert(id, next)
      return next
    },

    async delete(providerAlias, id) {
      const isIt = (model: CustomModel) => model.providerAlias === providerAlias && model.id === id
      const found = await findRecord(customModels, 'Custom model', isIt)
      present(await customModels.remove(found.id), 'Custom model')
      return { success: true }
    },
  }
}
