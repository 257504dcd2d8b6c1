import { askAll } from './ai-models.mjs'

console.log(JSON.stringify(await askAll()))
