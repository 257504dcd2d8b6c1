import { checkGuards } from './guard-checks.mjs'

console.log(JSON.stringify(await checkGuards()))
