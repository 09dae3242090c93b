export { Cron } from 'croner'
