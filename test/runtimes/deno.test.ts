import { sharedBy, startChild } from './child.ts'
import { clientsLeave } from './clients-leave.ts'
import { keepsToFakeTimers } from './fake-timers.ts'
import { tellsInContext } from './in-context.ts'
import { mountGuardsAndCloses } from './mount-closes.ts'
import { readsPaths } from './paths.ts'
import { runsIn } from './scenario.ts'

const deno = new URL('node_modules/.bin/deno', import.meta.url).pathname
const start = (app: string) => startChild(deno, ['run', '--allow-net', '--no-prompt', `apps/${app}.mjs`])
const fetches = sharedBy(2, () => start('deno-fetch'))
const mount = sharedBy(3, () => start('deno-mount'))

runsIn('Deno.serve(gateway.fetch)', fetches)
readsPaths('Deno.serve(gateway.fetch)', fetches)
runsIn('serveDeno(gateway)', mount)
clientsLeave('serveDeno', mount)
mountGuardsAndCloses('serveDeno', mount)
tellsInContext('Deno', deno, 'run', '--allow-net', '--no-prompt')
keepsToFakeTimers('Deno', ['byHand'], deno, 'run', '--allow-net', '--no-prompt')
