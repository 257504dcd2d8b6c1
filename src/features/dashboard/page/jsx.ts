/* The build compiles JSX to calls to these functions. */
export { Fragment, h } from 'preact'
