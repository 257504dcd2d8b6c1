import process from 'node:process'
import { reportSuites } from './report.ts'
import { type Servers, subjectsOn } from './subjects.ts'

/* Reports the suites of stores in Node, Bun, or Deno. The argument is JSON with the servers and the names of the stores. */

const [servers, names] = JSON.parse(process.argv[2] ?? '') as [Servers, string[]] // the argument that runs-in.ts passes
await reportSuites(names, subjectsOn(servers), (line) => void process.stdout.write(line))
process.exit(0)
