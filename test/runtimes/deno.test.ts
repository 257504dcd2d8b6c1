import { startChild } from './child.ts'
import { clientsLeave } from './clients-leave.ts'
import { mountGuardsAndCloses } from './mount-closes.ts'
import { readsPaths } from './paths.ts'
import { runsIn } from './scenario.ts'

const deno = new URL('node_modules/.bin/deno', import.meta.url).pathname
const start = (app: string) => startChild(deno, ['run', '--allow-net', '--no-prompt', `apps/${app}.mjs`])

runsIn('Deno.serve(gateway.fetch)', () => start('deno-fetch'))
runsIn('serveDeno(gateway)', () => start('deno-mount'))
readsPaths('Deno.serve(gateway.fetch)', () => start('deno-fetch'))
mountGuardsAndCloses('serveDeno', () => start('deno-mount'))
clientsLeave('serveDeno', () => start('deno-mount'))
