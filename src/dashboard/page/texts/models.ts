/* The texts of the view of models. */

export const published = 'Published for clients'
export const hint =
  'What a key that may reach everything can ask for. In US dollars: for a million tokens, for everything else each.'
export const search = 'Name'
export const none = 'Nothing is published: connect a provider.'
export const custom = 'Custom models'
export const customHint =
  'Models that the catalog does not have, or with prices of your own. In US dollars for a million tokens.'
export const noCustom = 'There is no custom model.'
export const columnId = 'Name'
export const columnOwner = 'From'
export const columnKind = 'Kind'
export const columnProvider = 'Provider'
export const columnOther = 'Other prices'
export const columnSource = 'Price from'
export const sources = { connection: 'connection', customModel: 'custom model', catalog: 'catalog' } as const
export const columnWindow = 'Window'
export const all = 'all'
export const columnInput = 'Input'
export const columnOutput = 'Output'
export const columnActions = 'Actions'
export const formProvider = 'Alias or id of the provider'
export const formId = 'Id of the model'
export const formKind = 'Kind'
export const formInput = 'Price of the input'
export const formOutput = 'Price of the output'
export const formAdd = 'Add a custom model'
