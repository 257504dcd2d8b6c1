import { Socket } from 'node:net'

/*
 * A separate thread in each worker: ends the process as soon as its parent is gone, which a test that blocks the event
 * loop would never notice. The runner writes nothing to this pipe; it closes with the runner, however that ended.
 */

const LEASH = 4

new Socket({ fd: LEASH }).resume().on('close', () => process.kill(process.pid, 'SIGKILL'))
