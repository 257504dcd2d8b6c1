import process from 'node:process'
import { reportSuites } from './report.ts'
import { type Servers, subjectsOn } from './subjects.ts'

/* Runs the store suites in Node, Bun, or Deno, and reports the results. The argument is JSON with the servers and the store names. */

const [servers, names] = JSON.parse(process.argv[2] ?? '') as [Servers, string[]] // the argument that runs-in.ts passes
await reportSuites(names, subjectsOn(servers), (line) => void process.stdout.write(line))
process.exit(0)
