-- What Lockwright asks of an SAP ASE: all of it, in this order; the driver adds what is listed below, and nothing else.
--
-- For the DBA who is to grant access. Every statement stands here as it is sent; the program sends no other, and its
-- guard (guard.py) lets nothing pass but these shapes: a SELECT of monitoring tables (master..mon…) and of catalogs
-- (sys…), and the procedures below in the forms below, which read. No transaction, no temporary table, no USE, no SET
-- but the one below (which has us give up, not others), no statement prepared on the server, no DBCC of our own.
--
-- What the driver adds by itself, at each connect (FreeTDS and pyodbc, as a server wrote down what it was sent):
--     the login: user, password (encrypted by the server's key), the name of this machine, `lockwright` as program,
--         language and character set
--     driver: select @@spid
--     driver: set textsize <N>             only where the connection string has TEXTSIZE; in one batch with @@spid
--     driver: use [<DATABASE>]             only where it has DATABASE; in one batch with @@spid
--     driver: sp_datatype_info <N>         four times, for 12, -9, -3 and 11: how long texts, bytes and times may be
--     a cancel (attention) where an answer is late, and a logout at the end
-- Other drivers than FreeTDS ask other things at a connect: what SAP's own sends, its documentation says.
--
-- What the login needs, and it should have no more (a login with sa_role or sso_role is warned of): the role mon_role; the role sa_role only for sp_sysmon (and where a site has restricted the
-- other procedures). A question whose role is missing is left out, and the result says which, and how to grant it:
--     grant role mon_role to <login>           or, on every release:     sp_role 'grant', mon_role, <login>
-- Switches are never set; where one is off its tables are empty or hold zeros, and the result says so.
--
-- Cost, in sum, without samples: at most 65 statements and one for each user database, on one connection, one after the
-- other. Monitoring tables are built from memory when they are asked for: they take no lock on a user's table. Dear are
-- two: `cached_objects` walks the hash tables of the data caches (asked once; seconds of one engine on caches of 100
-- GB, as estimated), and `tables` reads the allocation pages of every table and index (once per database; some thousand
-- page reads for 10,000 tables, as estimated), before the first snapshot; a schedule asks it once a week and uses its
-- answer until then.
-- Either can be left out: --without NAME, or by the data source's own setting "Questions left out".
-- Rows are bounded where a server may have many: the number stands in the statement. Tables of activity have a row for
-- each open index or partition: they are asked without ORDER BY, so that the server sorts nothing in tempdb and stops at
-- the bound; idle ones are left out.
-- Nothing waits: behind a lock (DDL that is not committed holds some on catalogs) the server gives our statement up after
-- the seconds of `lock_wait`, and each question is cancelled after its own seconds (30, unless it says others).
-- Text of statements is in one answer alone, that of `monCachedStatement`. What your users typed into them does not leave
-- the collecting process: it writes ? for every string, number and binary value, and leaves comments out (literals.py).
-- --without monCachedStatement leaves the whole answer out.
-- monDeadLock is not asked: a reader may empty its pipe for the monitor that is there. `monSysStatement` is a pipe, too;
-- by the manual each connection has a place of its own in it and takes nothing from another (Monitoring Tables, 15.7,
-- "Stateful historical monitoring tables"). It is asked only where the site has switched it on for itself.
--
-- Each question: its name; why; since (release, where needed with service pack and patch level); needs (roles);
-- switches; only (switches without which it is not asked,
-- and which nobody is told to set); cost; seconds (after which it is cancelled); when (connect: after each login; first,
-- once, snapshot: at the beginning and at the end of the interval;
-- sample: only where --every asks for it, each time; last: with the last snapshot alone; database: once for each user
-- database; sysmon: only where --sysmon asks for it);
-- file (where the answer is written, as isql prints it).
-- <DATABASE> and <DBID> stand for a user database and its number, <TIME> for the time of --sysmon, <NUMBER> for that of a
-- sample.
--
-- Sampling (--every 5 --for 600): between the two snapshots the questions of `sample` are asked again and again, counters
-- and states alone. Pipes give each reader their rows once, so they are asked once, with the last snapshot. Each sample
-- is bounded by its rows and its seconds, and asking never takes more than a tenth of the time: a server that answers
-- slowly is sampled less often. A question that the server refuses is not asked again.

-- question: lock_wait
-- why: that no question of ours waits behind a lock of somebody else, such as that of DDL which is not committed
-- since: 15.0
-- cost: none; it is a setting of our session alone
-- when: connect
set lock wait 5
go

-- question: engines
-- why: how many engines are on line: with name and release it says whether this is the server that was asked before
-- since: 15.0
-- cost: none
-- when: first
select engine Engine, status Status from master..sysengines where status = 'online'
go

-- question: login
-- why: what the login may ask, so that nothing is asked that would be refused
-- since: 15.0
-- cost: none
-- when: first
select show_role() Roles, proc_role('mon_role') MonRole, proc_role('sa_role') SaRole,
proc_role('sso_role') SsoRole
go

-- question: switches
-- why: which monitoring is on: a table whose switch is off is empty and says nothing
-- since: 15.0
-- cost: none
-- when: first
select c.name Name, u.value Value from master..sysconfigures c, master..syscurconfigs u where c.config = u.config
and c.name in ('enable monitoring', 'enable spinlock monitoring', 'wait event timing', 'object lockwait timing',
'per object statistics active', 'enable stmt cache monitoring', 'process wait events', 'statement statistics active',
'statement pipe active', 'statement pipe max messages', 'execution time monitoring')
go

-- question: server
-- why: name, release and page size: rules and remedies differ by release
-- since: 15.0
-- cost: none
-- when: once
-- file: server.txt
select @@servername, @@version, @@maxpagesize
go

-- question: columns
-- why: which columns are unsigned: some drivers print those above 2,147,483,647 as negative numbers
-- since: 15.0
-- needs: mon_role
-- cost: some 2,000 rows from memory
-- when: first
select TableName, ColumnName, TypeName from master..monTableColumns where TypeName like 'unsigned%'
go

-- question: configuration
-- why: what is set and what is in force
-- since: 15.0
-- cost: small; reads two catalogs
-- when: once
-- file: sp_configure.txt
sp_configure
go

-- question: memory
-- why: how much memory is free for larger caches and more descriptors
-- since: 15.0
-- cost: small
-- when: once
-- file: sp_configure_memory.txt
sp_configure 'memory'
go

-- question: caches
-- why: data caches, their pools, partitions and replacement
-- since: 15.0
-- cost: small
-- when: once
-- file: sp_cacheconfig.txt
sp_cacheconfig
go

-- question: cache_rows
-- why: the same as rows, with the overhead of each cache
-- since: 15.7
-- cost: none
-- when: once
-- file: syscacheinfo.txt
select * from master..syscacheinfo
go

-- question: pool_rows
-- why: the pools of the caches as rows
-- since: 15.7
-- cost: none
-- when: once
-- file: syspoolinfo.txt
select * from master..syspoolinfo
go

-- question: bindings
-- why: which databases, tables and indexes are bound to which cache
-- since: 15.0
-- cost: small; reads sysattributes of each database
-- when: once
-- file: sp_helpcache.txt
sp_helpcache
go

-- question: usage
-- why: how near descriptors, locks and other resources are to their limits
-- since: 15.0
-- cost: small
-- when: once
-- file: sp_monitorconfig.txt
sp_monitorconfig 'all'
go

-- question: databases
-- why: the databases to ask below; offline ones are left out
-- since: 15.0
-- cost: none
-- when: first
select name Name, dbid DBID from master..sysdatabases order by dbid
go

-- question: fragments
-- why: whether the log of a database shares devices with its data: then each log record is flushed by itself
-- since: 15.0
-- cost: none; a row for each piece of a device
-- when: once
-- file: sysusages.txt
select top 20000 db_name(dbid) DBName, dbid, segmap, size from master..sysusages
go

-- question: snapshot
-- why: when the rows below were read, and since when the server counts
-- since: 15.0
-- cost: none
-- when: snapshot
-- file: snapshot-<N>.txt
select @@servername ServerName, getdate() SampleTime, @@boottime BootTime
go

-- question: monState
-- why: when the server started and when its counters were cleared: whether two snapshots may be subtracted
-- since: 15.0
-- needs: mon_role
-- switches: enable monitoring
-- cost: one row
-- when: snapshot
select * from master..monState
go

-- question: monSpinlockActivity
-- why: grabs, spins and waits of every spinlock, by name
-- since: 15.7
-- needs: mon_role
-- switches: enable monitoring, enable spinlock monitoring
-- cost: some thousand rows; the bound is far above that
-- when: snapshot
select top 100000 * from master..monSpinlockActivity
go

-- question: monDataCache
-- why: searches, reads and partitions of each data cache
-- since: 15.0
-- needs: mon_role
-- switches: enable monitoring
-- cost: one row a cache
-- when: snapshot
select * from master..monDataCache
go

-- question: monCachePool
-- why: how the pools of the caches turn over
-- since: 15.0
-- needs: mon_role
-- switches: enable monitoring
-- cost: one row a pool
-- when: snapshot
select * from master..monCachePool
go

-- question: monEngine
-- why: how busy the engines are
-- since: 15.0
-- needs: mon_role
-- switches: enable monitoring
-- cost: one row an engine
-- when: snapshot
select * from master..monEngine
go

-- question: monThread
-- why: whether the host gives the engines the processor
-- since: 15.7
-- needs: mon_role
-- switches: enable monitoring
-- cost: one row a thread
-- when: snapshot
select * from master..monThread
go

-- question: monSysWaits
-- why: what tasks wait for, and how long
-- since: 15.0
-- needs: mon_role
-- switches: enable monitoring, wait event timing
-- cost: some hundred rows
-- when: snapshot
select * from master..monSysWaits
go

-- question: monWaitEventInfo
-- why: what the numbers of the waits mean in this release
-- since: 15.0
-- needs: mon_role
-- cost: some hundred rows
-- when: snapshot
select * from master..monWaitEventInfo
go

-- question: monDeviceIO
-- why: how long the devices take for reads and writes
-- since: 15.0
-- needs: mon_role
-- switches: enable monitoring
-- cost: one row a device
-- when: snapshot
select * from master..monDeviceIO
go

-- question: monIOQueue
-- why: how long the I/O of logs, of data and of temporary databases takes on each device
-- since: 15.0
-- needs: mon_role
-- switches: enable monitoring
-- cost: one row for each device and kind of I/O
-- when: snapshot
select * from master..monIOQueue
go

-- question: monOpenDatabases
-- why: whose log tasks wait for to append to it, and whose is full
-- since: 15.0
-- needs: mon_role
-- switches: enable monitoring
-- cost: one row a database
-- when: snapshot
select * from master..monOpenDatabases
go

-- question: monSysExecutionTime
-- why: what the time of the engines went into: execution, compilation, sorting, disk, network
-- since: 16.0
-- needs: mon_role
-- switches: enable monitoring
-- only: execution time monitoring
-- cost: six rows
-- when: snapshot
select * from master..monSysExecutionTime
go

-- question: monProcedureCache
-- why: how the procedure cache is used
-- since: 15.0
-- needs: mon_role
-- switches: enable monitoring
-- cost: one row
-- when: snapshot
select * from master..monProcedureCache
go

-- question: monProcELC
-- why: whether the engines find memory for plans in their own reserve, or go to the pool of all of them
-- since: 16.0 SP03 PL08
-- needs: mon_role
-- switches: enable monitoring
-- cost: four rows an engine
-- when: snapshot
select * from master..monProcELC
go

-- question: monStatementCache
-- why: how the statement cache is used
-- since: 15.0
-- needs: mon_role
-- switches: enable monitoring, enable stmt cache monitoring
-- cost: one row
-- when: snapshot
select * from master..monStatementCache
go

-- question: monOpenObjectActivity
-- why: reads, scans, changes and lock waits of each table and index
-- since: 15.0
-- needs: mon_role
-- switches: enable monitoring, per object statistics active, object lockwait timing
-- cost: one row for each open index that was used, up to the bound; nothing is sorted
-- seconds: 60
-- when: snapshot
select top 20000 * from master..monOpenObjectActivity
where LogicalReads <> 0 or LockWaits <> 0
go

-- question: monOpenPartitionActivity
-- why: the same for each partition
-- since: 15.0
-- needs: mon_role
-- switches: enable monitoring, per object statistics active, object lockwait timing
-- cost: one row for each open partition that was used, up to the bound; nothing is sorted
-- seconds: 60
-- when: snapshot
select top 20000 * from master..monOpenPartitionActivity
where LogicalReads <> 0 or PhysicalReads <> 0
go

-- question: monProcessObject
-- why: which session reads which table at this moment: no other table ties the two
-- since: 15.0
-- needs: mon_role
-- switches: enable monitoring, per object statistics active
-- cost: one row for each table of a running statement, up to the bound; nothing is sorted
-- when: snapshot
select top 5000 * from master..monProcessObject where LogicalReads > 0
go

-- question: monProcessWaits
-- why: which sessions wait for locks, and how long: events 150, 481, 493 to 495, 499 to 501, 700 and 701
-- since: 15.0
-- needs: mon_role
-- switches: enable monitoring
-- only: process wait events, wait event timing
-- cost: one row for each session and event, of which those of locks are sent
-- when: snapshot
select top 20000 * from master..monProcessWaits
where WaitEventID in (150, 481, 493, 494, 495, 499, 500, 501, 700, 701)
go

-- question: monProcessActivity
-- why: which sessions do the work, by reads, locks and commits, and which fill their user log caches
-- since: 15.0
-- needs: mon_role
-- switches: enable monitoring
-- cost: one row a session, up to the bound; those that did next to nothing are left out
-- when: snapshot
select top 5000 * from master..monProcessActivity where LogicalReads > 1000 or ULCFlushes > 1000
go

-- question: monProcessNetIO
-- why: which sessions are sent most, and how full their packets are
-- since: 15.0
-- needs: mon_role
-- switches: enable monitoring
-- cost: one row a session, up to the bound; those that were sent next to nothing are left out
-- when: snapshot
select top 5000 * from master..monProcessNetIO where PacketsSent > 1000
go

-- question: monCachedStatement
-- why: which statements read most, how often they run, and which tables their text names
-- since: 15.0
-- needs: mon_role
-- switches: enable monitoring, enable stmt cache monitoring
-- cost: one row a cached statement; the text only of those with 100,000 logical reads or more, sorted in tempdb
-- when: snapshot
select top 500 *, show_cached_text(SSQLID) SQLText from master..monCachedStatement
where convert(float, UseCount) * AvgLIO >= 100000 order by convert(float, UseCount) * AvgLIO desc
go

-- question: sample
-- why: when the rows of a sample were read, and which sample it is
-- since: 15.0
-- cost: none
-- seconds: 5
-- when: sample
-- file: samples.txt
select @@servername ServerName, getdate() SampleTime, @@boottime BootTime, <NUMBER> SampleNumber
go

-- question: sampled_waits
-- why: what tasks wait for from sample to sample: a mean of ten minutes hides a bad one
-- since: 15.0
-- needs: mon_role
-- switches: enable monitoring, wait event timing
-- cost: some hundred rows from memory for each sample
-- seconds: 5
-- when: sample
-- file: samples.txt
select * from master..monSysWaits
go

-- question: sampled_spinlocks
-- why: which spinlocks spin from sample to sample
-- since: 15.7
-- needs: mon_role
-- switches: enable monitoring, enable spinlock monitoring
-- cost: one row a spinlock for each sample, some thousand, up to the bound; nothing is sorted
-- seconds: 5
-- when: sample
-- file: samples.txt
select top 20000 * from master..monSpinlockActivity
go

-- question: sampled_blocking
-- why: how many sessions another one holds up, and for how long, from sample to sample
-- since: 15.0
-- needs: mon_role
-- switches: enable monitoring
-- cost: looks at each session once for each sample; only those that wait for another are sent, up to the bound
-- seconds: 5
-- when: sample
-- file: samples.txt
select top 500 * from master..monProcess where BlockingSPID > 0
go

-- question: monLocks
-- why: who holds and who waits at this moment
-- since: 15.0
-- needs: mon_role
-- switches: enable monitoring
-- cost: one row a lock, up to the bound
-- when: last
select top 5000 * from master..monLocks
go

-- question: monProcess
-- why: who blocks whom, since when, and what the head of the chain does; beside the locks
-- since: 15.0
-- needs: mon_role
-- switches: enable monitoring, wait event timing
-- cost: one row a session, up to the bound
-- when: last
select top 5000 * from master..monProcess
go

-- question: monProcessStatement
-- why: what runs at this moment, since when, and how much it read so far; beside the sessions
-- since: 15.0
-- needs: mon_role
-- switches: enable monitoring
-- only: statement statistics active
-- cost: one row a session that runs a statement, up to the bound
-- when: last
select top 5000 * from master..monProcessStatement
go

-- question: monSysStatement
-- why: what the sessions that read a table ran: the statements that ended, the largest ones
-- since: 15.0
-- needs: mon_role
-- switches: enable monitoring
-- only: statement statistics active, statement pipe active, statement pipe max messages
-- cost: reads the pipe once, at most `statement pipe max messages` rows, sorted in tempdb
-- when: last
select top 5000 * from master..monSysStatement where LogicalReads >= 1000 order by LogicalReads desc
go

-- question: cached_objects
-- why: what of which table is in which cache: the sizes of the binding plan
-- since: 15.0
-- needs: mon_role
-- switches: enable monitoring
-- cost: dear on large caches: walks their hash tables
-- seconds: 120
-- when: last
select top 5000 * from master..monCachedObject order by CachedKB desc
go

-- question: tables
-- why: lock scheme and size of every table and index
-- since: 15.0
-- cost: reads the allocation pages of each; some thousand page reads for 10,000 tables
-- seconds: 120
-- when: database
-- file: tables-<DBID>.txt
select top 50000 db_name(<DBID>) DBName, u.name OwnerName, o.name ObjectName, o.id ObjectID, o.type Type,
lockscheme(o.id, <DBID>) LockScheme, i.indid IndexID, i.name IndexName,
data_pages(<DBID>, o.id, i.indid) * (@@maxpagesize / 1024) SizeKB
from <DATABASE>..sysobjects o, <DATABASE>..sysindexes i, <DATABASE>..sysusers u
where o.id = i.id and o.uid = u.uid and o.type in ('U', 'S') order by SizeKB desc
go

-- question: sysmon
-- why: what sp_sysmon alone tells: lock hash tables, context switches, transactions by kind
-- since: 15.0
-- needs: sa_role
-- cost: reads all counters twice; `noclear` leaves them to other monitors as they are
-- when: sysmon
-- file: sp_sysmon.txt
sp_sysmon '<TIME>', noclear
go
