import { Socket } from 'node:net'

/*
 * A separate thread in each worker process that exits the process as soon as the runner is gone, even if a test blocks the main thread's event loop.
 * The runner never writes to this pipe, which closes however the runner ends.
 */

const LEASH = 4

new Socket({ fd: LEASH }).resume().on('close', () => process.kill(process.pid, 'SIGKILL'))
