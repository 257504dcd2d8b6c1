/** The texts of the view of models. */
export const texts = {
  published: 'Published for clients',
  hint: 'What GET /v1/models lists for a key that may reach everything.',
  search: 'Name',
  none: 'Nothing is published: connect a provider.',
  custom: 'Custom models',
  customHint: 'Models that the catalog does not have, or with prices of your own. In US dollars for a million tokens.',
  noCustom: 'There is no custom model.',
  columns: {
    id: 'Name',
    owner: 'From',
    kind: 'Kind',
    provider: 'Provider',
    input: 'Input',
    output: 'Output',
    actions: 'Actions',
  },
  form: {
    provider: 'Alias or id of the provider',
    id: 'Id of the model',
    kind: 'Kind',
    input: 'Price of the input',
    output: 'Price of the output',
    add: 'Add a custom model',
  },
} as const
